// Writes the frames of one stream: `event:` and `data:` with a gapless sequence number.

export class FrameWriter {
  #out = ''
  #next = 0

  /** `members`: JSON members without braces. */
  push(type: string, members: string): void {
    this.#out += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#next++},${members}}\n\n`
  }

  /** Returns the frames pushed since the last call. */
  take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }
}
