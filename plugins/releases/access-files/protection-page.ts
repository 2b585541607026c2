import { Redirect, View, type PageSpec } from '../../../kernel/contract/index.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { ProtectionState, ReleaseStoreState } from '../../../ports/domain/releases.js';
import type { StoreProtectionService } from './store-protection.js';
import type { AccessFilesDeps } from './deps.js';
import type { AccessFileGenerator } from './access-file-generator.js';

const PAGE_PATH = '/access-protection';
const PROTECTION_TONES: Record<ProtectionState, 'success' | 'danger' | 'warning' | 'info'> = {
  protected: 'success',
  open: 'danger',
  inconclusive: 'warning',
  no_packages: 'info',
  not_tested: 'info',
};
const PROTECTION_LABELS: Record<ProtectionState, string> = {
  protected: 'Protected',
  open: 'Unprotected',
  inconclusive: 'Inconclusive',
  no_packages: 'No packages',
  not_tested: 'Not tested',
};

const FILE_LABELS: Readonly<Record<string, string>> = { htpasswd: 'Access file', package: 'Package' };
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'open',
  401: 'asks for a password',
  403: 'denied',
  404: 'not found',
};

/** `Package asks for a password (401)`. */
function describeAnswer(file: string, status: number | null): string {
  const label = FILE_LABELS[file] ?? file;
  if (status === null) return `${label}: no response`;
  return `${label} ${STATUS_WORDS[status] ?? 'answered'} (${status})`;
}

const redirectBack = ({ protection }: ReleaseStoreState, done: string): Redirect =>
  new Redirect(PAGE_PATH, {
    tone: PROTECTION_TONES[protection],
    message: `${done} Result: ${PROTECTION_LABELS[protection].toLowerCase()}.`,
  });

export function protectionPages(
  care: StoreProtectionService,
  files: AccessFileGenerator,
  projects: Pick<ProjectDirectory, 'list'>,
  { audit, readers, place }: Pick<AccessFilesDeps, 'audit' | 'readers' | 'place'>,
): PageSpec[] {
  return [
    {
      path: PAGE_PATH,
      title: 'Access protection',
      nav: {
        section: 'administration',
        group: 'system',
        label: 'Access protection',
        icon: 'shield',
        order: 50,
        also: ['htaccess', 'passwords', 'self-test', 'store'],
        badge: async () => ((await care.getHealth()).protection === 'open' ? 1 : null),
      },
      access: { session: 'member' },
      async handle({ principal }) {
        const { protection, last_selftest_at } = await care.getHealth();
        const [state, known] = await Promise.all([files.getState(), projects.list()]);
        const names = new Map(known.map(({ slug, name }) => [slug, name]));
        const missing = await files.listUnprotected();
        const products = (await care.listProducts()).map(({ product, protection: now, statuses, cut }) => ({
          product,
          name: names.get(product) ?? product,
          state: PROTECTION_LABELS[now],
          tone: PROTECTION_TONES[now],
          cut,
          answers: Object.entries(statuses).map(([file, status]) => describeAnswer(file, status)),
        }));
        return new View('access-protection', {
          title: 'Access protection',
          admin: principal.kind === 'session' && principal.role === 'admin',
          word: PROTECTION_LABELS[protection],
          tone: PROTECTION_TONES[protection],
          open: protection === 'open',
          inconclusive: protection === 'inconclusive',
          missing,
          products,
          skipped: (state?.skipped ?? []).join(', '),
          readable: readers === 'everybody',
          unreadable: readers === 'service' && state?.self_test?.in_front === true,
          facts: [
            { label: 'Package location', value: place },
            { label: 'Last self-test', at: last_selftest_at },
            { label: 'Tested URL', value: state?.self_test?.address ?? null },
            { label: 'Files written', at: state?.run_at ?? null },
          ],
        });
      },
    },
    {
      method: 'POST',
      path: `${PAGE_PATH}/regenerate`,
      title: 'Access protection',
      access: { session: 'admin' },
      async handle({ principal }) {
        const state = await care.run(true);
        const products = state.regenerated.length;
        await audit.record(principal, 'access_files.regenerated', 'release store', { products });
        return redirectBack(state, 'Access files regenerated.');
      },
    },
    {
      method: 'POST',
      path: `${PAGE_PATH}/selftest`,
      title: 'Access protection',
      access: { session: 'admin' },
      handle: async () => redirectBack(await care.runSelfTest(), 'Self-test finished.'),
    },
  ];
}
