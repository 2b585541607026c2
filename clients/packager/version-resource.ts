/** Parses a version resource (VS_VERSIONINFO of Windows): fixed numbers, and texts by language. */

interface ResourceBlock {
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
export function listVersions(bytes: Buffer): string[] {
  const root = readBlock(bytes, 0);
  const children = root.value + bytes.readUInt16LE(2);
  const strings = readBlocks(bytes, alignOffset(children), root.end)
    .filter(({ key }) => key === 'StringFileInfo')
    .flatMap((info) => readBlocks(bytes, info.value, info.end))
    .flatMap((language) => readBlocks(bytes, language.value, language.end));
  const named = (name: string): string[] =>
    strings.filter(({ key }) => key === name).map((block) => readText(bytes, block));
  return [...named('ProductVersion'), ...named('FileVersion'), ...readFixedVersion(bytes, root.value)];
}

function readFixedVersion(bytes: Buffer, at: number): string[] {
  if (bytes.readUInt16LE(2) < 16 || bytes.readUInt32LE(at) !== FIXED_SIGNATURE) return [];
  const [high, low] = [bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 12)];
  return [[high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].join('.')];
}

function readBlocks(bytes: Buffer, start: number, end: number): ResourceBlock[] {
  const found: ResourceBlock[] = [];
  for (let at = start; at + 6 <= end && found.length < MAX_BLOCKS;) {
    const block = readBlock(bytes, at);
    if (block.end <= at || block.end > end) break;
    found.push(block);
    at = alignOffset(block.end);
  }
  return found;
}

function readBlock(bytes: Buffer, at: number): ResourceBlock {
  const end = at + bytes.readUInt16LE(at);
  let stop = at + 6;
  while (bytes.readUInt16LE(stop) !== 0) stop += 2;
  return { key: bytes.toString('utf16le', at + 6, stop), value: alignOffset(stop + 2), end };
}

const readText = (bytes: Buffer, { value, end }: ResourceBlock): string =>
  bytes.toString('utf16le', value, end).replace(/\0.*$/s, '');

const alignOffset = (at: number): number => Math.ceil(at / 4) * 4;
