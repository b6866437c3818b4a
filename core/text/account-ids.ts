// Masks what names an account at a vendor: organizations, projects, users, workspaces, subscriptions, addresses of mail. Errors of a shared
// connection would show other organizations whose account it is.

const HIDDEN = '***'

/** Words with a hyphen, such as `org-wide`, have no digit and no change of case. */
const MARKED = /\b(?:org|proj|user|acct|workspace|wrkspc|team|sa)[-_](?=[a-z]*[0-9A-Z])[A-Za-z0-9_-]{3,}/g
const UUID = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}'
const WORDS = 'organi[sz]ation|org|workspace|project|account|subscription|tenant|team|user|customer'
/** `organization 4711`, `project_number:4711`, `Organization (id: 0b5b…)`, `accountId=4711`. */
const NAMED = new RegExp(
  `\\b((?:${WORDS})s?(?:[ _-]?(?:id|number|uuid|name))?[^A-Za-z0-9]{1,3}(?:(?:id|number|uuid)[^A-Za-z0-9]{1,3})?)(?:${UUID}|\\d{6,})`,
  'gi',
)
const PATH = new RegExp(`\\b((?:${WORDS})s/)[^\\s/'"\`),]+((?:/resourceGroups/)[^\\s/'"\`),]+)?`, 'gi')
const ARN = /\barn:aws[\w-]*:[^\s'"`),]*/g
const MAIL = /[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g

export function withoutAccounts(text: string): string {
  return text
    .replace(MARKED, HIDDEN)
    .replace(ARN, HIDDEN)
    .replace(MAIL, HIDDEN)
    .replace(PATH, `$1${HIDDEN}`)
    .replace(NAMED, `$1${HIDDEN}`)
}
