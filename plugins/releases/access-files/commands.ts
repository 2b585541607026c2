import type { CommandSpec } from '../../../kernel/contract/index.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { ReleaseStoreState } from '../../../ports/domain/releases.js';
import type { StoreProtectionService } from './store-protection.js';

const PROTECTION_MESSAGES: Record<ReleaseStoreState['protection'], string> = {
  protected: 'Protected: anonymous access is denied.',
  open: 'OPEN: anyone with the address can download packages, or read .htpasswd.',
  inconclusive: 'Inconclusive: neither denied nor allowed as expected.',
  no_packages: 'There is no package to test with.',
  not_tested: 'Not tested yet.',
};

export function formatStoreHealth({ protection, products }: ReleaseStoreState): string[] {
  const seen = products.map(({ product, statuses }) => {
    const parts = Object.entries(statuses).map(([file, status]) => `${file} ${status ?? 'no response'}`);
    return `${product}: ${parts.join(', ')}`;
  });
  return [PROTECTION_MESSAGES[protection], ...(protection === 'protected' ? [] : seen)];
}

export function storeCommands(care: StoreProtectionService, audit: Pick<AuditLog, 'record'>): CommandSpec[] {
  return [
    {
      name: 'store regenerate',
      summary: 'Regenerate the access files of the release store, and test whether it is protected',
      async run() {
        const state = await care.run(true);
        await audit.record('command line: aos store regenerate', 'access_files.regenerated', 'release store', {
          products: state.regenerated.length,
        });
        const count = state.regenerated.length;
        const written = `Access files written for ${count} ${count === 1 ? 'product' : 'products'}.`;
        return { json: state, text: [written, ...formatStoreHealth(state)].join('\n') };
      },
    },
    {
      name: 'store selftest',
      summary: 'Test whether the release store denies anonymous access; exit 1 if it does not',
      async run() {
        const state = await care.runSelfTest();
        const well = state.protection === 'protected' || state.protection === 'no_packages';
        return { json: state, text: formatStoreHealth(state).join('\n'), exit: well ? 0 : 1 };
      },
    },
  ];
}
