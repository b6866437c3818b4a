// Questions on a terminal whose answers are not shown.

const INTERRUPT = '\u0003'
/** Enter, a pasted line end, Ctrl-D. */
const ENDS = ['\r', '\n', '\u0004']
const ERASES = ['\u007f', '\b']

/** Reads one answer per question without echo, also for text typed early. Ctrl-C exits with 130. */
export function promptSecrets(questions: readonly string[]): Promise<string[]> {
  const { stdin, stderr } = process
  const answers: string[] = []
  let answer = ''
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  stderr.write(questions[0] ?? '')
  return new Promise((resolve) => {
    const finish = (): void => {
      stdin.off('data', typed)
      stdin.setRawMode(false)
      stdin.pause()
    }
    const typed = (chunk: string): void => {
      for (const character of chunk) {
        if (character === INTERRUPT) {
          finish()
          stderr.write('\n')
          process.exit(130)
        }
        if (!ENDS.includes(character)) {
          answer = ERASES.includes(character) ? answer.slice(0, -1) : answer + character
          continue
        }
        answers.push(answer)
        answer = ''
        stderr.write(`\n${questions[answers.length] ?? ''}`)
        if (answers.length === questions.length) {
          finish()
          resolve(answers)
          return
        }
      }
    }
    stdin.on('data', typed)
  })
}
