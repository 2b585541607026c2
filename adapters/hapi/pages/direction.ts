/**
 * Text of people who write from right to left, wherever a page shows it: `dir="auto"` isolates it, so that a name in
 * Hebrew or Arabic moves none of the words and numbers beside it, and a paragraph is read from its own side.
 *
 * The finished page is the place for it, since all text passes there, of plugins from outside too. Rejected: the
 * attribute in every template, which the next one forgets, and which every page would carry for the few that need it.
 * Fields that people type into have it from the start (web/partials/field.hbs).
 */
const LETTERS = '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}';
const ANY = new RegExp(`[${LETTERS}]`, 'u');

/** A tag and the text behind it. `>` is always markup: in text and attributes it is escaped. */
const EACH = /<(\/?)([a-z][a-z0-9]*)([^<>]*)>([^<]+)/gi;

/** They hold text alone, or a text with a side of its own: they take the attribute themselves. */
const TAKES = new Set(
  'a abbr b blockquote button caption cite del em figcaption h1 h2 h3 h4 h5 h6 i ins label legend mark option p q s small span strong textarea u bdi'.split(
    ' ',
  ),
);
/** Code goes from left to right, and what is no markup of a text takes none. */
const LEFT_ALONE = new Set('code kbd pre samp script style text title tspan'.split(' '));
const VOID = new Set('area br col hr img input link meta source track use wbr'.split(' '));
const HAS_SIDE = /\sdir=/;

/** The page with each text in a right-to-left script isolated. A page without any is only searched. Linear time. */
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
