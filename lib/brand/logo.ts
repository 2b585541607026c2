/**
 * Validates logos by their bytes. SVG is rejected, because it may contain scripts and load external
 * content.
 */
import { MAX_PICTURE_SIDE, InvalidPicture, readJpeg, readPng, readWebp, type Picture } from './picture.js';

export const MAX_LOGO_BYTES = 128 * 1024;

const LOGO_FORMATS: readonly (readonly [type: string, at: number, bytes: string, read: (file: Buffer) => Picture])[] = [
  ['image/png', 0, '89504e470d0a1a0a', readPng],
  ['image/jpeg', 0, 'ffd8ff', readJpeg],
  ['image/webp', 8, '57454250', readWebp],
];
export const LOGO_TYPES = LOGO_FORMATS.map(([type]) => type);

/** Keep browsers from interpreting a picture as anything else. */
export const LOGO_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'inline; filename="logo"',
  'x-robots-tag': 'noindex',
} as const;

/** A stored logo, without metadata. */
export interface Logo {
  type: string;
  bytes: Buffer;
}

/** Returns the logo, or a validation message. */
export function readLogo(bytes: Buffer): Logo | string {
  if (bytes.length > MAX_LOGO_BYTES) return `must be at most ${MAX_LOGO_BYTES / 1024} KiB`;
  const kind = LOGO_FORMATS.find(([, at, wanted]) => bytes.toString('hex', at, at + wanted.length / 2) === wanted);
  if (kind === undefined) return 'must be a PNG, JPEG or WebP image; SVG is not supported';
  const [type, , , read] = kind;
  try {
    const { width, height, bytes: plain } = read(bytes);
    const fits = [width, height].every((side) => side >= 1 && side <= MAX_PICTURE_SIDE);
    return fits ? { type, bytes: plain } : `must be at most ${MAX_PICTURE_SIDE} pixels on each side`;
  } catch (error) {
    if (error instanceof InvalidPicture) return error.message;
    throw error;
  }
}
