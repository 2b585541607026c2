import { homedir } from 'node:os';
import { join } from 'node:path';

export interface RemoteEnv {
  url: string | null;
  token: string | null;
  tokenFile: string | null;
  settingsFolder: string;
  proxies: Readonly<Record<string, string | undefined>>;
}

const toText = (value: string | undefined): string | null => (value === undefined || value === '' ? null : value);

/** Reads a variable that a configuration document references. */
export const readVariable = (name: string): string | undefined => process.env[name];

export function readRemoteEnv(env: NodeJS.ProcessEnv = process.env): RemoteEnv {
  const { SVC_URL, SVC_TOKEN, SVC_TOKEN_FILE, APPDATA, XDG_CONFIG_HOME, HOME } = env;
  const home = toText(HOME) ?? homedir();
  return {
    url: toText(SVC_URL),
    token: toText(SVC_TOKEN),
    tokenFile: toText(SVC_TOKEN_FILE),
    settingsFolder:
      process.platform === 'win32'
        ? (toText(APPDATA) ?? join(home, 'AppData', 'Roaming'))
        : (toText(XDG_CONFIG_HOME) ?? join(home, '.config')),
    proxies: env,
  };
}
