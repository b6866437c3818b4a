// The completion scripts. Each has the fixed words in itself, and asks `hookgate completion values <kind>` for those of the database.
import type { Words } from './words.ts'

export const SCRIPTS: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish, powershell }

function bash({ next, values }: Words): string {
  const words = [...next].map(([path, list]) => `    '${path}') words='${list.join(' ')}' ;;`)
  const kinds = [...values]
  const flags = kinds.filter(([place]) => place.includes(' --')).map(([place, kind]) => `    '${place}') kind=${kind} ;;`)
  const operands = kinds.filter(([place]) => !place.includes(' --')).map(([place, kind]) => `    '${place}') kind=${kind} ;;`)
  const paths = [...next.keys()].filter((path) => path !== '').map((path) => `'${path}'`)
  return `_hookgate() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words='' kind='' before=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
      *) break ;;
    esac
  done
  case "$path $prev" in
${flags.join('\n')}
  esac
  if [[ -z $kind && $cur != -* ]]; then
    case "$path" in
${operands.join('\n')}
    esac
  fi
  if [[ -n $kind ]]; then
    words="$("\${COMP_WORDS[0]}" completion values "$kind" 2>/dev/null)"
    if [[ $cur == *,* ]]; then before="\${cur%,*},"; cur="\${cur##*,}"; fi
  else
    case "$path" in
${words.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
}
complete -o default -F _hookgate hookgate`
}

function zsh(words: Words): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`
}

function fish({ next, values }: Words): string {
  const seen = (path: string): string =>
    path
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
  const fixed = [...next].flatMap(([path, list]) => {
    const siblings = list.filter((word) => !word.startsWith('--'))
    const unless = siblings.length === 0 ? '' : `not __fish_seen_subcommand_from ${siblings.join(' ')}`
    const when = [seen(path), unless].filter((part) => part !== '').join('; and ')
    return list.map((word) =>
      word.startsWith('--')
        ? `complete -c hookgate -n '${seen(path)}' -l ${word.slice(2)}`
        : `complete -c hookgate -f -n '${when}' -a ${word}`,
    )
  })
  const dynamic = [...values].map(([place, kind]) => {
    const [path = '', flag] = place.split(' --')
    const source = `-a '(hookgate completion values ${kind})'`
    return `complete -c hookgate -n '${seen(path)}' ${flag === undefined ? '-f' : `-x -l ${flag}`} ${source}`
  })
  return [...fixed, ...dynamic].join('\n')
}

function powershell({ next, values }: Words): string {
  const lists = [...next].map(([path, list]) => `    '${path}' = @(${list.map((word) => `'${word}'`).join(', ')})`)
  const kinds = [...values].map(([place, kind]) => `    '${place}' = '${kind}'`)
  return `Register-ArgumentCompleter -Native -CommandName hookgate -ScriptBlock {
  param($word, $ast, $position)
  $next = @{
${lists.join('\n')}
  }
  $kinds = @{
${kinds.join('\n')}
  }
  $said = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -ne '' -and $said.Count -gt 0) { $said = @($said | Select-Object -SkipLast 1) }
  $path = ''
  foreach ($one in $said) {
    $longer = "$path $one".Trim()
    if (-not $next.ContainsKey($longer)) { break }
    $path = $longer
  }
  $last = if ($said.Count -gt 0) { $said[-1] } else { '' }
  $kind = $kinds["$path $last"]
  if (-not $kind -and -not $word.StartsWith('-')) { $kind = $kinds[$path] }
  $words = if ($kind) { @(hookgate completion values $kind 2>$null) } else { $next[$path] }
  $words | Where-Object { $_ -like "$word*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}`
}
