/**
 * Validates pictures for visitors' browsers and rewrites only the parts needed for drawing, without
 * metadata (places, names, thumbnails, comments). Inconsistent files and trailing bytes are
 * rejected. Linear.
 */
import { crc32 } from 'node:zlib';

/** Pixels per side. */
export const MAX_PICTURE_SIDE = 4_096;

export interface Picture {
  width: number;
  height: number;
  /** Without metadata. */
  bytes: Buffer;
}

/** Invalid picture; the message is for a form field. */
export class NoPicture extends Error {
  override name = 'NoPicture';
}

const refuse = (why: string): never => {
  throw new NoPicture(why);
};
const DAMAGED = 'is damaged: its parts do not fit together';
const TRAILING = 'holds bytes behind the end of the picture';

/** Reads within bounds, or rejects the file. */
class Reader {
  at = 0;
  constructor(readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): Buffer {
    if (length < 0 || length > this.left) refuse(DAMAGED);
    return this.bytes.subarray(this.at, (this.at += length));
  }
}

const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
/** Chunks required for drawing, or defining colors and transparency. */
const PNG_PARTS = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'sBIT', 'bKGD', 'pHYs']);
const PNG_DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Reads a PNG. @throws InvalidPicture */
export function readPng(file: Buffer): Picture {
  const reader = new Reader(file);
  if (!reader.take(PNG_HEAD.length).equals(PNG_HEAD)) refuse(DAMAGED);
  const kept: Buffer[] = [PNG_HEAD];
  let size: Pick<Picture, 'width' | 'height'> | null = null;
  let drawn = false;
  for (let ended = false; !ended;) {
    const from = reader.at;
    const length = reader.take(4).readUInt32BE();
    const checked = reader.take(4);
    const name = checked.toString('latin1');
    const data = reader.take(length);
    const sum = reader.take(4).readUInt32BE();
    if (crc32(data, crc32(checked)) !== sum) refuse(DAMAGED);
    if ((name === 'IHDR') !== (size === null)) refuse(DAMAGED);
    size ??= pngSize(data);
    drawn ||= name === 'IDAT';
    ended = name === 'IEND';
    if (PNG_PARTS.has(name)) kept.push(reader.bytes.subarray(from, reader.at));
    // A capital letter marks a critical chunk.
    else if (/^[A-Z]/.test(name)) refuse(DAMAGED);
  }
  if (!drawn || size === null) return refuse(DAMAGED);
  if (reader.left > 0) refuse(TRAILING);
  return { ...size, bytes: Buffer.concat(kept) };
}

function pngSize(data: Buffer): Pick<Picture, 'width' | 'height'> {
  if (data.length !== 13) refuse(DAMAGED);
  const [depth = 0, colour = 0, compression, filter, interlace = 2] = data.subarray(8);
  const fits = PNG_DEPTHS[colour]?.includes(depth) === true;
  if (!fits || compression !== 0 || filter !== 0 || interlace > 1) refuse(DAMAGED);
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4) };
}

/** Frames that browsers support: baseline, extended, progressive. */
const JPEG_FRAMES = new Set([0xc0, 0xc1, 0xc2]);
/** Tables and restart interval. */
const JPEG_TABLES = new Set([0xc4, 0xdb, 0xdd]);
const JPEG_SCAN = 0xda;
const JPEG_END = 0xd9;
const JPEG_COMMENT = 0xfe;

/** Reads a JPEG. @throws InvalidPicture */
export function readJpeg(file: Buffer): Picture {
  const reader = new Reader(file);
  if (reader.take(2).readUInt16BE() !== 0xffd8) refuse(DAMAGED);
  const kept: Buffer[] = [Buffer.from([0xff, 0xd8])];
  let size: Pick<Picture, 'width' | 'height'> | null = null;
  let drawn = false;
  for (;;) {
    if (reader.take(1)[0] !== 0xff) refuse(DAMAGED);
    let marker = reader.take(1)[0] ?? 0;
    while (marker === 0xff) marker = reader.take(1)[0] ?? 0;
    if (marker === JPEG_END) break;
    const length = reader.take(2).readUInt16BE();
    const data = reader.take(length - 2);
    if (JPEG_FRAMES.has(marker)) {
      if (size !== null || data.length < 6 || data[0] !== 8) refuse(DAMAGED);
      size = { width: data.readUInt16BE(3), height: data.readUInt16BE(1) };
      kept.push(segment(marker, data));
    } else if (JPEG_TABLES.has(marker)) kept.push(segment(marker, data));
    else if (marker === JPEG_SCAN) {
      if (size === null) refuse(DAMAGED);
      kept.push(segment(marker, data), scanned(reader));
      drawn = true;
    } else if (marker >= 0xe0 && marker <= 0xef) kept.push(...application(marker, data));
    else if (marker !== JPEG_COMMENT) refuse(DAMAGED);
  }
  if (!drawn || size === null) return refuse(DAMAGED);
  if (reader.left > 0) refuse(TRAILING);
  kept.push(Buffer.from([0xff, JPEG_END]));
  return { ...size, bytes: Buffer.concat(kept) };
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Returns JFIF density without thumbnail, and Adobe's color transform; drops other segments. */
function application(marker: number, data: Buffer): Buffer[] {
  if (marker === 0xe0 && data.length >= 14 && data.toString('latin1', 0, 5) === 'JFIF\0')
    return [segment(marker, Buffer.concat([data.subarray(0, 12), Buffer.alloc(2)]))];
  if (marker === 0xee && data.length >= 12 && data.toString('latin1', 0, 5) === 'Adobe')
    return [segment(marker, data.subarray(0, 12))];
  return [];
}

/** Reads entropy-coded data up to the next real marker. */
function scanned(reader: Reader): Buffer {
  const { bytes, at } = reader;
  for (let end = bytes.indexOf(0xff, at); end >= 0; end = bytes.indexOf(0xff, end + 1)) {
    const next = bytes[end + 1] ?? 0xff;
    if (next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7)) continue;
    return reader.take(end - at);
  }
  return refuse(DAMAGED);
}

const ALPHA = 0x10;
const ANIMATED = 0x02;

/** Reads a WebP. @throws InvalidPicture */
export function readWebp(file: Buffer): Picture {
  const reader = new Reader(file);
  const head = reader.take(12);
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8) !== 'WEBP') refuse(DAMAGED);
  const stated = head.readUInt32LE(4) + 8;
  if (stated > file.length) refuse(DAMAGED);
  if (stated < file.length) refuse(TRAILING);
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
    else if (name.startsWith('VP8') || name === 'ALPH') refuse(DAMAGED);
  }
  if (image === null) return refuse(canvas === null ? DAMAGED : 'is animated, which a logo is not');
  if (canvas !== null && (canvas.flags & ANIMATED) !== 0) refuse('is animated, which a logo is not');
  const size = image.name === 'VP8L' ? losslessSize(image.data) : lossySize(image.data);
  if (canvas !== null && (canvas.width !== size.width || canvas.height !== size.height)) refuse(DAMAGED);
  const extended = Buffer.alloc(10);
  extended[0] = (canvas?.flags ?? 0) & ALPHA;
  extended.writeUIntLE(size.width - 1, 4, 3);
  extended.writeUIntLE(size.height - 1, 7, 3);
  const parts = [
    ...(canvas === null ? [] : [chunk('VP8X', extended)]),
    ...(canvas === null || alpha === null ? [] : [chunk('ALPH', alpha)]),
    chunk(image.name, image.data),
  ];
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  return { ...size, bytes: chunk('RIFF', body) };
}

function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8, name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function lossySize(data: Buffer): Pick<Picture, 'width' | 'height'> {
  const isKeyFrame = data.length >= 10 && ((data[0] ?? 1) & 1) === 0 && data.toString('hex', 3, 6) === '9d012a';
  if (!isKeyFrame) refuse(DAMAGED);
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
}

function losslessSize(data: Buffer): Pick<Picture, 'width' | 'height'> {
  if (data.length < 5 || data[0] !== 0x2f) refuse(DAMAGED);
  const bits = data.readUInt32LE(1);
  if (bits >>> 29 !== 0) refuse(DAMAGED);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
