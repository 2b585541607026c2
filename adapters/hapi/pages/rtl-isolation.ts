/** Adds `dir="auto"` around right-to-left text, so that it does not reorder the words around it. */
const RTL_LETTERS = '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}';
const RTL_PATTERN = new RegExp(`[${RTL_LETTERS}]`, 'u');

/**
 * A tag and the text after it. `>` is always markup, because it is escaped in text and attributes.
 */
const TAG_AND_TEXT_PATTERN = /<(\/?)([a-z][a-z0-9]*)([^<>]*)>([^<]+)/gi;

/** Contain only text, or text with its own direction. */
const DIR_ELEMENTS = new Set(
  'a abbr b blockquote button caption cite del em figcaption h1 h2 h3 h4 h5 h6 i ins label legend mark option p q s small span strong textarea u bdi'.split(
    ' ',
  ),
);
/** Code is always left to right; the others contain no markup. */
const LTR_ELEMENTS = new Set('code kbd pre samp script style text title tspan'.split(' '));
const VOID_ELEMENTS = new Set('area br col hr img input link meta source track use wbr'.split(' '));
const DIR_ATTRIBUTE_PATTERN = /\sdir=/;

export function isolateRtlText(html: string): string {
  if (!RTL_PATTERN.test(html)) return html;
  return html.replace(TAG_AND_TEXT_PATTERN, (all, end: string, tag: string, rest: string, text: string) => {
    if (!RTL_PATTERN.test(text)) return all;
    const name = tag.toLowerCase();
    const begins = end === '' && !VOID_ELEMENTS.has(name) && !rest.endsWith('/');
    if (begins && (LTR_ELEMENTS.has(name) || DIR_ATTRIBUTE_PATTERN.test(rest))) return all;
    if (begins && DIR_ELEMENTS.has(name)) return `<${tag}${rest} dir="auto">${text}`;
    const inside = text.trim();
    return `<${end}${tag}${rest}>${text.replace(inside, () => `<bdi dir="auto">${inside}</bdi>`)}`;
  });
}
