/** The runtime identifiers of packages, and the addresses they lie at (contract 40; contract 90, what it sends). */

export const PLATFORMS = ['any', 'win-x64', 'linux-x64', 'linux-arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

export const isPlatform = (text: unknown): text is Platform => (PLATFORMS as readonly unknown[]).includes(text);

/** Packages of this platform may be unpacked on Windows. An unknown platform is judged as strictly as that. */
export const reachesWindows = (platform: string): boolean => !platform.startsWith('linux-');

/** A `package_url` that a companion may fetch: below `/releases/` of the same server, without `..`. */
export const isPackageUrl = (text: string): boolean =>
  /^\/releases\/[A-Za-z0-9._/-]+$/.test(text) && !text.includes('..') && !text.endsWith('\n');
