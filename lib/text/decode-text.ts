/** Decodes response bodies by byte order mark, declared charset, or document. */
const NAMED = /;\s{0,10}charset\s{0,10}=\s{0,10}"?([\w.:-]{1,40})/i;
/** Within the first bytes of HTML and XML. */
const IN_PAGE = /<meta[^>]{0,200}?charset\s{0,10}=\s{0,10}["']?([\w.:-]{1,40})/i;
const IN_XML = /^<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})/i;
const LOOKED_AT = 1_024;
const MARKS: readonly (readonly [mark: readonly number[], charset: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
];

function createDecoder(charset: string | undefined): InstanceType<typeof TextDecoder> | null {
  try {
    return charset === undefined ? null : new TextDecoder(charset);
  } catch {
    return null;
  }
}

/** Decodes text without byte order mark. @param contentType header value */
export function decodeText(bytes: Uint8Array, contentType = ''): string {
  const marked = MARKS.find(([mark]) => mark.every((byte, i) => bytes[i] === byte))?.[1];
  const beginning = String.fromCharCode(...bytes.subarray(0, LOOKED_AT));
  const inside = IN_XML.exec(beginning)?.[1] ?? IN_PAGE.exec(beginning)?.[1];
  // A page readable as ASCII is not UTF-16, whatever it declares.
  const own = inside !== undefined && /^utf-?16/i.test(inside) ? undefined : inside;
  const decoder = createDecoder(marked) ?? createDecoder(NAMED.exec(contentType)?.[1]) ?? createDecoder(own);
  return (decoder ?? new TextDecoder()).decode(bytes);
}
