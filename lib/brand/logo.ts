/**
 * Pictures that may be a logo: what browsers draw and nothing can run in. SVG is refused: it may hold scripts and load
 * from elsewhere. The bytes decide, not what the sender says. Pure.
 */
export const LOGO_BYTES = 128 * 1024;

const BEGINNINGS: readonly (readonly [type: string, at: number, bytes: string])[] = [
  ['image/png', 0, '89504e470d0a1a0a'],
  ['image/jpeg', 0, 'ffd8ff'],
  ['image/webp', 8, '57454250'],
];
export const LOGO_TYPES = BEGINNINGS.map(([type]) => type);

/** With them a picture is a picture and nothing else, whatever its bytes would be taken for. */
export const LOGO_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'inline; filename="logo"',
  'x-robots-tag': 'noindex',
} as const;

/** What is wrong with a picture as a logo, in words for its field; null: nothing. */
export function logoProblem(bytes: Buffer): string | null {
  if (bytes.length > LOGO_BYTES) return `may have ${LOGO_BYTES / 1024} KiB at most`;
  return logoType(bytes) === null ? 'must be a picture of PNG, JPEG or WebP; SVG is not taken' : null;
}

/** Null: none of these. */
export const logoType = (bytes: Buffer): string | null =>
  BEGINNINGS.find(([, at, wanted]) => bytes.toString('hex', at, at + wanted.length / 2) === wanted)?.[0] ?? null;
