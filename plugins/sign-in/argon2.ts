// Loads Argon2 on first use. Its binary is an optional package of the platform, so it can be missing.

/** Rejects with an Error that says what to install. */
export async function argon2(): Promise<typeof import('@node-rs/argon2')> {
  try {
    return await import('@node-rs/argon2')
  } catch (cause) {
    const message =
      'Passwords need the binary of `@node-rs/argon2`, and `npm install --omit=optional` leaves it out. ' +
      'Install the package of your platform, for example `@node-rs/argon2-linux-x64-gnu`.'
    throw new Error(message, { cause })
  }
}
