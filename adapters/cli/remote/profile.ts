import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoteEnv } from '../../../config/remote-env.js';
import { replaceFile } from '../../../lib/files/replace-file.js';

export interface Profile {
  url: string;
  token: string;
}

type ProfileLocation = Pick<RemoteEnv, 'settingsFolder'>;

const getProfilePath = ({ settingsFolder }: ProfileLocation): string => join(settingsFolder, 'aos', 'profile.json');

/**
 * Null when no profile is saved.
 * @throws Error when others can read the file, or it is invalid
 */
export async function loadProfile(env: ProfileLocation): Promise<Profile | null> {
  const path = getProfilePath(env);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (found === null) return null;
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new Error(`${path} is readable by other users; run: chmod 600 ${path}`);
  const profile = parseProfile(await readFile(path, 'utf8'));
  if (profile === null) throw new Error(`${path} is not a valid profile; run "aos login" to create it again`);
  return profile;
}

function parseProfile(text: string): Profile | null {
  try {
    const { url, token } = JSON.parse(text) as Partial<Profile>;
    return typeof url === 'string' && URL.canParse(url) && typeof token === 'string' ? { url, token } : null;
  } catch {
    return null;
  }
}

export async function saveProfile(profile: Profile, env: ProfileLocation): Promise<string> {
  const path = getProfilePath(env);
  await replaceFile(path, `${JSON.stringify(profile, null, 2)}\n`);
  return path;
}
