// Prints a refusal of the control plane with its own message.
export class ApiFailure extends Error {
  readonly status: number
  /** The field that is wrong, dotted. */
  readonly param: string | null

  constructor(status: number, message: string, param: string | null) {
    super(message)
    this.name = 'ApiFailure'
    this.status = status
    this.param = param
  }
}
