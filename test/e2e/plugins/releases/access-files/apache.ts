/**
 * Debian's Apache before the store: its own configuration, and a user who may read the store and
 * nothing else.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { waitUntil } from '../../../../harness.js';
import { isRequired } from '../../../../support/requirements.js';

const PROGRAM = '/usr/sbin/apache2';
const MODULES = '/usr/lib/apache2/modules';
const NEEDED = ['mpm_prefork', 'alias', 'auth_basic', 'authn_core', 'authn_file', 'authz_core', 'authz_user'];

export const REQUIRED = isRequired('apache');
export const INSTALLED = existsSync(PROGRAM) && existsSync('/usr/bin/htpasswd');

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What docs/reverse-proxy.md shows, as far as it is about the store. */
const configuration = (home: string, store: string, port: number, override: string): string =>
  `
ServerName localhost
ServerRoot "${home}"
Listen 127.0.0.1:${port}
PidFile "${home}/pid"
ErrorLog "${home}/error.log"
${NEEDED.map((name) => `LoadModule ${name}_module "${MODULES}/mod_${name}.so"`).join('\n')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
DocumentRoot "${home}/empty"
Alias "/releases" "${store}"
<Directory "/">
  AllowOverride None
  Require all denied
</Directory>
<Directory "${store}">
  AllowOverride ${override}
  Options None
  Require all granted
</Directory>
`;

export class Apache {
  private constructor(
    readonly base: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(home: string, store: string, override = 'AuthConfig'): Promise<Apache> {
    await mkdir(join(home, 'empty'), { recursive: true });
    const port = await freePort();
    const file = join(home, 'apache.conf');
    await writeFile(file, configuration(home, store, port, override));
    const child = spawn(PROGRAM, ['-X', '-f', file], { stdio: 'ignore' });
    const base = `http://127.0.0.1:${port}`;
    const answers = async (): Promise<boolean> => {
      if (child.exitCode !== null) throw new Error(`apache2 ended: ${await readFile(`${home}/error.log`, 'utf8')}`);
      return fetch(base).then(
        () => true,
        () => false,
      );
    };
    await waitUntil('Apache answers', answers);
    return new Apache(base, child);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.exitCode === null && this.child.kill('SIGTERM')) await ended;
  }
}
