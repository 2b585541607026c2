/** Parses a version resource (VS_VERSIONINFO of Windows): fixed numbers, and texts by language. */

interface Block {
  key: string;
  value: number;
  end: number;
}

const FIXED_SIGNATURE = 0xfeef04bd;
const MAX_BLOCKS = 1_000;

/**
 * Lists versions by reliability: product versions, file versions, the fixed file version.
 * @throws RangeError for truncated bytes
 */
export function versionStrings(bytes: Buffer): string[] {
  const root = blockAt(bytes, 0);
  const children = root.value + bytes.readUInt16LE(2);
  const strings = blocks(bytes, aligned(children), root.end)
    .filter(({ key }) => key === 'StringFileInfo')
    .flatMap((info) => blocks(bytes, info.value, info.end))
    .flatMap((language) => blocks(bytes, language.value, language.end));
  const named = (name: string): string[] =>
    strings.filter(({ key }) => key === name).map((block) => text(bytes, block));
  return [...named('ProductVersion'), ...named('FileVersion'), ...fixed(bytes, root.value)];
}

function fixed(bytes: Buffer, at: number): string[] {
  if (bytes.readUInt16LE(2) < 16 || bytes.readUInt32LE(at) !== FIXED_SIGNATURE) return [];
  const [high, low] = [bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 12)];
  return [[high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].join('.')];
}

function blocks(bytes: Buffer, start: number, end: number): Block[] {
  const found: Block[] = [];
  for (let at = start; at + 6 <= end && found.length < MAX_BLOCKS;) {
    const block = blockAt(bytes, at);
    if (block.end <= at || block.end > end) break;
    found.push(block);
    at = aligned(block.end);
  }
  return found;
}

function blockAt(bytes: Buffer, at: number): Block {
  const end = at + bytes.readUInt16LE(at);
  let stop = at + 6;
  while (bytes.readUInt16LE(stop) !== 0) stop += 2;
  return { key: bytes.toString('utf16le', at + 6, stop), value: aligned(stop + 2), end };
}

const text = (bytes: Buffer, { value, end }: Block): string =>
  bytes.toString('utf16le', value, end).replace(/\0.*$/s, '');

const aligned = (at: number): number => Math.ceil(at / 4) * 4;
