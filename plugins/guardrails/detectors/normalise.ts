// Normalises a text for detection: compatibility forms and look-alike letters become plain, invisible characters are removed, white space
// is collapsed, letters become lower case. Offsets are lost, so it is only for texts that are checked, not changed.

/** Letters of other scripts that look like Latin ones. */
const LOOK_ALIKES = new Map(
  Object.entries({
    // Cyrillic
    а: 'a',
    в: 'b',
    с: 'c',
    ԁ: 'd',
    е: 'e',
    ё: 'e',
    ғ: 'f',
    һ: 'h',
    н: 'h',
    і: 'i',
    ї: 'i',
    ј: 'j',
    к: 'k',
    ӏ: 'l',
    м: 'm',
    о: 'o',
    р: 'p',
    ԛ: 'q',
    г: 'r',
    ѕ: 's',
    т: 't',
    ц: 'u',
    ѵ: 'v',
    ԝ: 'w',
    х: 'x',
    у: 'y',
    ү: 'y',
    з: '3',
    // Greek
    α: 'a',
    β: 'b',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    χ: 'x',
    γ: 'y',
    ω: 'w',
    ζ: 'z',
    // Latin outside ASCII, and signs
    ı: 'i',
    ɑ: 'a',
    ɡ: 'g',
    ɩ: 'i',
    ʀ: 'r',
    ɴ: 'n',
    ʟ: 'l',
    ᴏ: 'o',
    ᴜ: 'u',
    ł: 'l',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    '’': "'",
    '‘': "'",
    '“': '"',
    '”': '"',
    '–': '-',
    '—': '-',
    '−': '-',
    '⁄': '/',
    '∕': '/',
  }),
)
const PLAIN = /^[\t\n\r\x20-\x7e]*$/
/** Format characters (zero-width, direction marks, tags), variation selectors and accents. */
const UNSEEN = /[\p{Cf}\p{Mn}\u115f\u1160\u3164\uffa0]/gu
const BEYOND = /[\u0080-\u{10ffff}]/gu
const SPACE = /\s+/g

export function normalised(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase().replace(SPACE, ' ')
  return text
    .normalize('NFKD')
    .replace(UNSEEN, '')
    .toLowerCase()
    .replace(BEYOND, (sign) => LOOK_ALIKES.get(sign) ?? sign)
    .replace(SPACE, ' ')
}
