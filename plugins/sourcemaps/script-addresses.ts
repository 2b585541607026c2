/** Script addresses as bundles name them: `~` stands for scheme and host. */

const SCHEME_PATTERN = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/]{0,300}/i;
const PLACEHOLDER_ORIGIN = 'http://host';

export function listScriptNames(file: string): string[] {
  const own = file.split(/[?#]/, 1)[0] ?? '';
  const host = SCHEME_PATTERN.exec(own)?.[0];
  if (host === undefined) return own === '' ? [] : own.startsWith('/') ? [`~${own}`, own] : [`~/${own}`, own];
  const path = own.slice(host.length);
  return path === '' ? [own] : [`~${path}`, own];
}

/**
 * Returns the address of a script's map.
 * @param script `~/assets/index.js`
 * @param map as the script states it; null: next to the script
 */
export function resolveMapName(script: string, map: string | null): string | null {
  if (map === null) return `${script}.map`;
  const host = script.startsWith('~/') ? '' : (SCHEME_PATTERN.exec(script)?.[0] ?? null);
  if (host === null) return null;
  const path = script.slice(host === '' ? 1 : host.length);
  try {
    const url = new URL(map, PLACEHOLDER_ORIGIN + path);
    if (url.origin !== PLACEHOLDER_ORIGIN) return url.href;
    return `${host === '' ? '~' : host}${decodeURI(url.pathname)}`;
  } catch {
    return null;
  }
}
