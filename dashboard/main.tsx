import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/connections.css'
import './styles/overview.css'
import './styles/playground.css'
import './styles/requests.css'
import './styles/routing.css'
import './styles/spend.css'
import './styles/system.css'
import './styles/webhooks.css'
import { render } from 'preact'
import { askSiblings } from './api/session.ts'
import { pageOf } from './app/frame/pages.ts'
import { Shell } from './app/frame/shell.tsx'
import { followLinks, path } from './app/location.ts'
import { onKey } from './app/palette/keys.tsx'
import { loadMe } from './app/session/me.ts'
import { showHiddenCharacters } from './app/visible-text.ts'

showHiddenCharacters()
askSiblings()
document.addEventListener('click', followLinks)
document.addEventListener('keydown', onKey)
void loadMe()
// Loads the module of the page early. The view shows a failure.
void pageOf(path.value)
  ?.page.load()
  .catch(() => {})
const root = document.getElementById('app')
if (root !== null) render(<Shell />, root)
