/**
 * The page /access-protection: protection status and two actions (contract 80; contract 40,
 * self-test).
 */
import { Redirect, View, type PageSpec } from '../../../kernel/contract.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Protection, ReleaseStoreState } from '../../../ports/domain/releases.js';
import type { StoreProtection } from './care.js';
import type { AccessDeps } from './deps.js';
import type { AccessFiles } from './generator.js';

const PATH = '/access-protection';
const TONES: Record<Protection, 'success' | 'danger' | 'warning' | 'info'> = {
  protected: 'success',
  open: 'danger',
  inconclusive: 'warning',
  no_packages: 'info',
  not_tested: 'info',
};
const WORDS: Record<Protection, string> = {
  protected: 'protected',
  open: 'open',
  inconclusive: 'inconclusive',
  no_packages: 'no packages',
  not_tested: 'not tested',
};

const back = ({ protection }: ReleaseStoreState, done: string): Redirect =>
  new Redirect(PATH, { tone: TONES[protection], message: `${done} The store is ${WORDS[protection]}.` });

export function protectionPages(
  care: StoreProtection,
  files: AccessFiles,
  projects: Pick<ProjectDirectory, 'list'>,
  { audit, readers, place }: Pick<AccessDeps, 'audit' | 'readers' | 'place'>,
): PageSpec[] {
  return [
    {
      path: PATH,
      title: 'Access protection',
      nav: {
        section: 'delivery',
        label: 'Access protection',
        icon: 'shield',
        order: 40,
        also: ['htaccess', 'passwords', 'self-test', 'store'],
        badge: async () => ((await care.health()).protection === 'open' ? 1 : null),
      },
      access: { session: 'member' },
      async handle({ principal }) {
        const { protection, last_selftest_at } = await care.health();
        const [state, known] = await Promise.all([files.state(), projects.list()]);
        const names = new Map(known.map(({ slug, name }) => [slug, name]));
        const missing = await files.unprotected();
        const products = (await care.products()).map(({ product, protection: now, statuses, cut }) => ({
          product,
          name: names.get(product) ?? product,
          state: WORDS[now],
          tone: TONES[now],
          cut,
          answers: Object.entries(statuses).map(([file, status]) => ({ file, status: status ?? 'no answer' })),
        }));
        return new View('access-protection', {
          title: 'Access protection',
          admin: principal.kind === 'session' && principal.role === 'admin',
          word: WORDS[protection],
          tone: TONES[protection],
          open: protection === 'open',
          inconclusive: protection === 'inconclusive',
          missing,
          products,
          skipped: (state?.skipped ?? []).join(', '),
          readable: readers === 'everybody',
          unreadable: readers === 'service' && state?.self_test?.in_front === true,
          facts: [
            { label: 'Packages lie in', value: place },
            { label: 'Last self-test', at: last_selftest_at },
            { label: 'Asked at', value: state?.self_test?.address ?? null },
            { label: 'Files written', at: state?.run_at ?? null },
          ],
        });
      },
    },
    {
      method: 'POST',
      path: `${PATH}/regenerate`,
      title: 'Access protection',
      access: { session: 'admin' },
      async handle({ principal }) {
        const state = await care.care(true);
        const products = state.regenerated.length;
        await audit.record(principal, 'access_files.regenerated', 'release store', { products });
        return back(state, 'The access files are written.');
      },
    },
    {
      method: 'POST',
      path: `${PATH}/selftest`,
      title: 'Access protection',
      access: { session: 'admin' },
      handle: async () => back(await care.test(), 'Tested.'),
    },
  ];
}
