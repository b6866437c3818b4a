// The rules behind the converted cells of the operations' matrix.
export const OPERATION_NOTES = {
  request: 'The request goes to the vendor in the vendor’s own form. Every value of the caller is in it.',
  answer: 'The gateway writes the answer in the caller’s format, with the vendor’s values.',
  credential: 'The vendor refused the gateway’s own credential, not the caller’s: 502.',
  silence: 'The vendor sent nothing for `GATEWAY_UPSTREAM_IDLE_TIMEOUT_MS`: 504.',
  cut: 'The vendor’s connection broke in the middle of the answer: 502, and no part of the answer reaches the caller.',
  cut_audio:
    'Audio passes on while it arrives and cannot carry an error: the gateway closes the caller’s connection before the end.',
  malformed: 'The vendor’s answer with status 200 cannot be read: 502.',
} as const

export type OperationNote = keyof typeof OPERATION_NOTES
