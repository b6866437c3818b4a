// Signs for terminals, and plain ones where the terminal or the locale cannot show them.
type Environment = Readonly<Record<string, string | undefined>>

/** The console of Linux has few glyphs, and a locale that names another character set means it. */
export function showsUnicode(env: Environment = process.env, platform: string = process.platform): boolean {
  if (env.TERM === 'linux') return false
  // The first one that is set decides.
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => value !== undefined && value !== '')
  if (locale !== undefined) return /utf-?8/i.test(locale)
  return platform !== 'win32' || env.WT_SESSION !== undefined || env.TERM_PROGRAM !== undefined || env.TERM !== undefined
}

/** Returns the sign, or the plain text of the same meaning. */
export function sign(unicode: string, plain: string): string {
  return showsUnicode() ? unicode : plain
}
