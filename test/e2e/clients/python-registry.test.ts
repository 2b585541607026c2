/**
 * The machine id of the Python SDK on Windows, with a registry of the test (contract 50,
 * amendments).
 */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';

/** `KEY_WOW64_64KEY` is what gives a 32-bit Python the same view as a 64-bit one. */
const SCRIPT = `
import contextlib, os, sys, types
import aos_client
registry = types.ModuleType('winreg')
registry.KEY_READ, registry.KEY_WOW64_64KEY, registry.HKEY_LOCAL_MACHINE = 0x20019, 0x100, 1
registry.OpenKey = lambda root, path, reserved, access: contextlib.nullcontext(access)
registry.QueryValueEx = lambda access, name: ('id-of-64' if access & 0x100 else 'id-of-32', 1)
sys.modules['winreg'] = registry
os.name = 'nt'
print(aos_client._system_id())
`;

describe('Python SDK on Windows', () => {
  it('reads the 64-bit view of the registry for its machine id (S-registry)', () => {
    const folder = join(projectRoot(), 'clients', 'python');
    expect(execFileSync('python3', ['-B', '-c', SCRIPT], { cwd: folder, encoding: 'utf8', timeout: 60_000 })).to.equal(
      'id-of-64\n',
    );
  });
});
