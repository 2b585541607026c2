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

/** Null: none of these. */
export const logoType = (bytes: Buffer): string | null =>
  BEGINNINGS.find(([, at, wanted]) => bytes.toString('hex', at, at + wanted.length / 2) === wanted)?.[0] ?? null;
