/** By byte order mark, declared charset, or document. */
const HEADER_CHARSET_PATTERN = /;\s{0,10}charset\s{0,10}=\s{0,10}"?([\w.:-]{1,40})/i;
const META_CHARSET_PATTERN = /<meta[^>]{0,200}?charset\s{0,10}=\s{0,10}["']?([\w.:-]{1,40})/i;
const XML_ENCODING_PATTERN = /^<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})/i;
const SCANNED_BYTES = 1_024;
const BYTE_ORDER_MARKS: readonly (readonly [mark: readonly number[], charset: string])[] = [
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
  const marked = BYTE_ORDER_MARKS.find(([mark]) => mark.every((byte, i) => bytes[i] === byte))?.[1];
  const beginning = String.fromCharCode(...bytes.subarray(0, SCANNED_BYTES));
  const inside = XML_ENCODING_PATTERN.exec(beginning)?.[1] ?? META_CHARSET_PATTERN.exec(beginning)?.[1];
  // A page readable as ASCII is not UTF-16.
  const own = inside !== undefined && /^utf-?16/i.test(inside) ? undefined : inside;
  const decoder =
    createDecoder(marked) ?? createDecoder(HEADER_CHARSET_PATTERN.exec(contentType)?.[1]) ?? createDecoder(own);
  return (decoder ?? new TextDecoder()).decode(bytes);
}
