// What every dialect and every provider must do, as cases for any test runner:
// `for (const { name, run } of dialectContract(driver, replies)) it(name, run)`.

export interface ContractCase {
  readonly name: string
  run(): void | Promise<void>
}
