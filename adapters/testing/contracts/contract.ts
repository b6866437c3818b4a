// Contract tests for dialects and providers, as cases for any test runner: `for (const { name, run } of dialectContract(driver, replies))
// it(name, run)`.

export interface ContractCase {
  readonly name: string
  run(): void | Promise<void>
}
