/**
 * Validates pictures for visitors' browsers and rewrites them without metadata. Inconsistent files
 * and trailing bytes are rejected. Linear.
 */
import { crc32 } from 'node:zlib';

/** Pixels per side. */
export const MAX_PICTURE_SIDE = 4_096;

export interface Picture {
  width: number;
  height: number;
  bytes: Buffer;
}

/** Invalid picture; the message is for a form field. */
export class InvalidPicture extends Error {
  override name = 'NoPicture';
}

const rejectPicture = (why: string): never => {
  throw new InvalidPicture(why);
};
const DAMAGED_MESSAGE = 'is damaged: its parts are inconsistent';
const TRAILING_BYTES_MESSAGE = 'has bytes after the end of the image';

class Reader {
  at = 0;
  constructor(readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): Buffer {
    if (length < 0 || length > this.left) rejectPicture(DAMAGED_MESSAGE);
    return this.bytes.subarray(this.at, (this.at += length));
  }
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Required for drawing, or defining colors and transparency. */
const PNG_CHUNK_TYPES = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'tRNS',
  'gAMA',
  'cHRM',
  'sRGB',
  'sBIT',
  'bKGD',
  'pHYs',
]);
const PNG_BIT_DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Reads a PNG. @throws InvalidPicture */
export function readPng(file: Buffer): Picture {
  const reader = new Reader(file);
  if (!reader.take(PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) rejectPicture(DAMAGED_MESSAGE);
  const retainedChunks: Buffer[] = [PNG_SIGNATURE];
  let size: Pick<Picture, 'width' | 'height'> | null = null;
  let drawn = false;
  for (let ended = false; !ended;) {
    const from = reader.at;
    const length = reader.take(4).readUInt32BE();
    const checked = reader.take(4);
    const name = checked.toString('latin1');
    const data = reader.take(length);
    const sum = reader.take(4).readUInt32BE();
    if (crc32(data, crc32(checked)) !== sum) rejectPicture(DAMAGED_MESSAGE);
    if ((name === 'IHDR') !== (size === null)) rejectPicture(DAMAGED_MESSAGE);
    size ??= readPngSize(data);
    drawn ||= name === 'IDAT';
    ended = name === 'IEND';
    if (PNG_CHUNK_TYPES.has(name)) retainedChunks.push(reader.bytes.subarray(from, reader.at));
    // A capital letter marks a critical chunk.
    else if (/^[A-Z]/.test(name)) rejectPicture(DAMAGED_MESSAGE);
  }
  if (!drawn || size === null) return rejectPicture(DAMAGED_MESSAGE);
  if (reader.left > 0) rejectPicture(TRAILING_BYTES_MESSAGE);
  return { ...size, bytes: Buffer.concat(retainedChunks) };
}

function readPngSize(data: Buffer): Pick<Picture, 'width' | 'height'> {
  if (data.length !== 13) rejectPicture(DAMAGED_MESSAGE);
  const [depth = 0, colour = 0, compression, filter, interlace = 2] = data.subarray(8);
  const fits = PNG_BIT_DEPTHS[colour]?.includes(depth) === true;
  if (!fits || compression !== 0 || filter !== 0 || interlace > 1) rejectPicture(DAMAGED_MESSAGE);
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4) };
}

/** Frames that browsers support. */
const JPEG_FRAMES = new Set([0xc0, 0xc1, 0xc2]);
const JPEG_TABLES = new Set([0xc4, 0xdb, 0xdd]);
const JPEG_SCAN = 0xda;
const JPEG_END = 0xd9;
const JPEG_COMMENT = 0xfe;

/** Reads a JPEG. @throws InvalidPicture */
export function readJpeg(file: Buffer): Picture {
  const reader = new Reader(file);
  if (reader.take(2).readUInt16BE() !== 0xffd8) rejectPicture(DAMAGED_MESSAGE);
  const retainedSegments: Buffer[] = [Buffer.from([0xff, 0xd8])];
  let size: Pick<Picture, 'width' | 'height'> | null = null;
  let drawn = false;
  for (;;) {
    if (reader.take(1)[0] !== 0xff) rejectPicture(DAMAGED_MESSAGE);
    let marker = reader.take(1)[0] ?? 0;
    while (marker === 0xff) marker = reader.take(1)[0] ?? 0;
    if (marker === JPEG_END) break;
    const length = reader.take(2).readUInt16BE();
    const data = reader.take(length - 2);
    if (JPEG_FRAMES.has(marker)) {
      if (size !== null || data.length < 6 || data[0] !== 8) rejectPicture(DAMAGED_MESSAGE);
      size = { width: data.readUInt16BE(3), height: data.readUInt16BE(1) };
      retainedSegments.push(formatSegment(marker, data));
    } else if (JPEG_TABLES.has(marker)) retainedSegments.push(formatSegment(marker, data));
    else if (marker === JPEG_SCAN) {
      if (size === null) rejectPicture(DAMAGED_MESSAGE);
      retainedSegments.push(formatSegment(marker, data), readScan(reader));
      drawn = true;
    } else if (marker >= 0xe0 && marker <= 0xef) retainedSegments.push(...filterApplicationSegment(marker, data));
    else if (marker !== JPEG_COMMENT) rejectPicture(DAMAGED_MESSAGE);
  }
  if (!drawn || size === null) return rejectPicture(DAMAGED_MESSAGE);
  if (reader.left > 0) rejectPicture(TRAILING_BYTES_MESSAGE);
  retainedSegments.push(Buffer.from([0xff, JPEG_END]));
  return { ...size, bytes: Buffer.concat(retainedSegments) };
}

function formatSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Keeps JFIF density and Adobe's color transform only. */
function filterApplicationSegment(marker: number, data: Buffer): Buffer[] {
  if (marker === 0xe0 && data.length >= 14 && data.toString('latin1', 0, 5) === 'JFIF\0')
    return [formatSegment(marker, Buffer.concat([data.subarray(0, 12), Buffer.alloc(2)]))];
  if (marker === 0xee && data.length >= 12 && data.toString('latin1', 0, 5) === 'Adobe')
    return [formatSegment(marker, data.subarray(0, 12))];
  return [];
}

function readScan(reader: Reader): Buffer {
  const { bytes, at } = reader;
  for (let end = bytes.indexOf(0xff, at); end >= 0; end = bytes.indexOf(0xff, end + 1)) {
    const next = bytes[end + 1] ?? 0xff;
    if (next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7)) continue;
    return reader.take(end - at);
  }
  return rejectPicture(DAMAGED_MESSAGE);
}

const ALPHA_FLAG = 0x10;
const ANIMATION_FLAG = 0x02;

/** Reads a WebP. @throws InvalidPicture */
export function readWebp(file: Buffer): Picture {
  const reader = new Reader(file);
  const head = reader.take(12);
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8) !== 'WEBP') rejectPicture(DAMAGED_MESSAGE);
  const stated = head.readUInt32LE(4) + 8;
  if (stated > file.length) rejectPicture(DAMAGED_MESSAGE);
  if (stated < file.length) rejectPicture(TRAILING_BYTES_MESSAGE);
  let canvas: (Pick<Picture, 'width' | 'height'> & { flags: number }) | null = null;
  let alpha: Buffer | null = null;
  let image: { name: string; data: Buffer } | null = null;
  while (reader.left > 0) {
    const name = reader.take(4).toString('latin1');
    const data = reader.take(reader.take(4).readUInt32LE());
    if (data.length % 2 === 1) reader.take(1);
    if (name === 'VP8X' && canvas === null && image === null && data.length === 10)
      canvas = { flags: data[0] ?? 0, width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 };
    else if ((name === 'VP8 ' || name === 'VP8L') && image === null) image = { name, data };
    else if (name === 'ALPH' && alpha === null && image === null) alpha = data;
    else if (name.startsWith('VP8') || name === 'ALPH') rejectPicture(DAMAGED_MESSAGE);
  }
  if (image === null) return rejectPicture(canvas === null ? DAMAGED_MESSAGE : 'must not be animated');
  if (canvas !== null && (canvas.flags & ANIMATION_FLAG) !== 0) rejectPicture('must not be animated');
  const size = image.name === 'VP8L' ? readLosslessSize(image.data) : readLossySize(image.data);
  if (canvas !== null && (canvas.width !== size.width || canvas.height !== size.height)) rejectPicture(DAMAGED_MESSAGE);
  const extended = Buffer.alloc(10);
  extended[0] = (canvas?.flags ?? 0) & ALPHA_FLAG;
  extended.writeUIntLE(size.width - 1, 4, 3);
  extended.writeUIntLE(size.height - 1, 7, 3);
  const parts = [
    ...(canvas === null ? [] : [formatChunk('VP8X', extended)]),
    ...(canvas === null || alpha === null ? [] : [formatChunk('ALPH', alpha)]),
    formatChunk(image.name, image.data),
  ];
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  return { ...size, bytes: formatChunk('RIFF', body) };
}

function formatChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8, name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function readLossySize(data: Buffer): Pick<Picture, 'width' | 'height'> {
  const isKeyFrame = data.length >= 10 && ((data[0] ?? 1) & 1) === 0 && data.toString('hex', 3, 6) === '9d012a';
  if (!isKeyFrame) rejectPicture(DAMAGED_MESSAGE);
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
}

function readLosslessSize(data: Buffer): Pick<Picture, 'width' | 'height'> {
  if (data.length < 5 || data[0] !== 0x2f) rejectPicture(DAMAGED_MESSAGE);
  const bits = data.readUInt32LE(1);
  if (bits >>> 29 !== 0) rejectPicture(DAMAGED_MESSAGE);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
