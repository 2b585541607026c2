/**
 * Adds `dir="auto"` around right-to-left text, so that it does not reorder the words around it. It
 * works on the rendered page, because all text passes there.
 */
const LETTERS = '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}';
const ANY = new RegExp(`[${LETTERS}]`, 'u');

/**
 * A tag and the text after it. `>` is always markup, because it is escaped in text and attributes.
 */
const EACH = /<(\/?)([a-z][a-z0-9]*)([^<>]*)>([^<]+)/gi;

/**
 * Elements that contain only text, or text with its own direction: they get the attribute
 * themselves.
 */
const TAKES = new Set(
  'a abbr b blockquote button caption cite del em figcaption h1 h2 h3 h4 h5 h6 i ins label legend mark option p q s small span strong textarea u bdi'.split(
    ' ',
  ),
);
/** Code is always left to right; the others contain no markup. */
const LEFT_ALONE = new Set('code kbd pre samp script style text title tspan'.split(' '));
const VOID = new Set('area br col hr img input link meta source track use wbr'.split(' '));
const HAS_SIDE = /\sdir=/;

export function isolated(html: string): string {
  if (!ANY.test(html)) return html;
  return html.replace(EACH, (all, end: string, tag: string, rest: string, text: string) => {
    if (!ANY.test(text)) return all;
    const name = tag.toLowerCase();
    const begins = end === '' && !VOID.has(name) && !rest.endsWith('/');
    if (begins && (LEFT_ALONE.has(name) || HAS_SIDE.test(rest))) return all;
    if (begins && TAKES.has(name)) return `<${tag}${rest} dir="auto">${text}`;
    const inside = text.trim();
    return `<${end}${tag}${rest}>${text.replace(inside, () => `<bdi dir="auto">${inside}</bdi>`)}`;
  });
}
