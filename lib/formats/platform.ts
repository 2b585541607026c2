/** Package platforms and URLs (contract 40; contract 90, what it sends). */

export const PLATFORMS = ['any', 'win-x64', 'linux-x64', 'linux-arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

export const isPlatform = (text: unknown): text is Platform => (PLATFORMS as readonly unknown[]).includes(text);

/** Returns whether packages may be unpacked on Windows; unknown platforms count. */
export const canReachWindows = (platform: string): boolean => !platform.startsWith('linux-');

/** Returns whether the URL is below `/releases/` of the same server, without `..`. */
export const isPackageUrl = (text: string): boolean =>
  /^\/releases\/[A-Za-z0-9._/-]+$/.test(text) && !text.includes('..') && !text.endsWith('\n');
