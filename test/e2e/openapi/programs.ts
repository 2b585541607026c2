/** The foreign programs that prepare.sh fetched. */
import { spawn } from 'node:child_process';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

export const TOOLS = process.env['SVC_TEST_OPENAPI'] ?? join(tmpdir(), `aos-test-openapi-${userInfo().uid}`);

/** Exit code, and what it printed on either stream. */
export function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<[number | null, string]> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, cwd });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve([code, output]));
  });
}
