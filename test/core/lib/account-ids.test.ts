import { expect, it } from 'vitest'
import { withoutAccounts } from '../../../core/text/account-ids.ts'

it.each([
  'The organization-wide limit of 30000 tokens per minute is reached; see org-level and user-defined limits.',
  'Limit 30000, Used 29900, Requested 4200. Please try again in 8.2s.',
  'The model `claude-sonnet-4-5-20250929` does not exist.',
  'max_tokens: 300000 > 64000, which is the maximum number of tokens for this model',
  'Invalid value for user: expected a string of at most 64 characters.',
  'team-based accounts, sa-east-1, project files',
])('an error that names no account stays: %s', (text) => {
  expect(withoutAccounts(text)).toBe(text)
})
