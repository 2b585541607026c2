import type { ReleaseStore } from '../../../ports/release-store.js';

export async function readStoredText(
  store: Pick<ReleaseStore, 'open'>,
  path: readonly string[],
): Promise<string | null> {
  const file = await store.open(path);
  if (file === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of file.read(0, file.size)) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
