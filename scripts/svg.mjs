// The SVG shapes of the drawings in docs/. Text is placed by its baseline; the colours are readable on light and dark pages.
const FONT = 'font-family="ui-sans-serif, system-ui, sans-serif"'
const escaped = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function text(x, y, content, { size = 13, weight = 400, fill = '#1f2937', anchor = 'start' } = {}) {
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}">${escaped(content)}</text>`
}

export function box(x, y, width, height, { fill = '#ffffff', stroke = '#94a3b8', radius = 8 } = {}) {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}" stroke="${stroke}"/>`
}

export function arrow(x1, y1, x2, y2, { stroke = '#475569', dash = '' } = {}) {
  const dashes = dash === '' ? '' : ` stroke-dasharray="${dash}"`
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${stroke}" stroke-width="1.5" marker-end="url(#head)"${dashes}/>`
}

export function svg(width, height, title, shapes) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ${FONT}>
<title>${escaped(title)}</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#475569"/></marker></defs>
<rect width="${width}" height="${height}" fill="#f8fafc"/>
${shapes.join('\n')}
</svg>
`
}
