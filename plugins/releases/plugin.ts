import { definePlugin, extend, type JobSpec, type PluginContext } from '../../kernel/contract/index.js';
import { ACCOUNT_CHANGE_LISTENERS, ACCOUNTS, LOGIN_ATTEMPT_LIMITER } from '../../ports/domain/access.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { LIVE_TOKENS } from '../../ports/domain/live-tokens.js';
import { RELEASE_LINKS } from '../../ports/domain/item-facts.js';
import { BUILD_HISTORY } from '../../ports/domain/releases.js';
import { BUGS, VERSION_FAULT_LISTENERS, VERSION_FAULTS, VERSION_FIXES } from '../../ports/domain/bugs.js';
import { STORAGE_SPACE } from '../../ports/domain/health.js';
import { LICENSE_CHANGE_LISTENERS, LICENSES } from '../../ports/domain/licensing.js';
import { MACHINE_RELEASES, MACHINES } from '../../ports/domain/machines/inventory.js';
import { PROJECT_PARTS, PROJECT_USAGE, PROJECTS } from '../../ports/domain/projects.js';
import {
  RELEASE_HALTED,
  RELEASE_PUBLISHED,
  RELEASE_ROLLED_BACK,
  RELEASE_SIGNING,
  RELEASE_STORE,
  RELEASES,
} from '../../ports/domain/releases.js';
import { RELEASE_HEALTH } from '../../ports/domain/release-health.js';
import { RUNTIME } from '../../ports/domain/system.js';
import { LIVE_TOPICS } from '../../ports/domain/live-topics.js';
import { ONBOARDING_STEPS } from '../../ports/domain/dashboard.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { MINUTE_MS, SECOND_MS } from '../../lib/time.js';
import { assembleStore } from './access-files/assemble.js';
import { COLLECTIONS } from './collections.js';
import { releasesConfig, type ReleasesConfig } from './config.js';
import type { ReleaseDeps } from './deps.js';
import { RELEASE_ERRORS } from './errors.js';
import { commitsRoute } from './http/commits-route.js';
import { updateCheckRoutes } from './http/update-check-routes.js';
import { publishingRoutes } from './http/publishing-routes.js';
import { releasePages } from './pages/pages.js';
import { releasePanels } from './pages/panels.js';
import { registerKeyMetrics } from './key-metrics.js';
import { buildFirstReleaseCommand } from './publishing/first-release.js';
import { buildServices, type ReleaseServices } from './services.js';
import { createMachineReleases } from './update-check/machine-releases.js';
import { createReleaseTopic } from './pages/live.js';
import { buildReleasePart } from './pages/project-summary.js';
import { createReleaseLinks } from './pages/release-links.js';
import { createReleaseSearch } from './pages/search.js';

const DEFAULT_MAX_PACKAGE_BYTES = 2 * 1024 ** 3;

function createDeps(ctx: PluginContext<ReleasesConfig>, protect: ReleaseDeps['protect']): ReleaseDeps {
  const { clock, ids, log, config } = ctx;
  const runtime = ctx.resolve(RUNTIME);
  return {
    releases: ctx.collection('releases'),
    manifests: ctx.collection('manifests'),
    publishes: ctx.collection('publishes'),
    statements: ctx.collection('statements'),
    leases: ctx.collection('leases'),
    clock,
    ids,
    log,
    config,
    emit: (event, data, options) => ctx.emit(event, data, options),
    store: ctx.ports.releaseStore,
    signer: ctx.ports.signers.releases,
    installers: ctx.ports.installers,
    baseUrl: () => ctx.app.base_url.replace(/\/$/, ''),
    audit: ctx.resolve(AUDIT),
    liveTokens: ctx.resolve(LIVE_TOKENS),
    projects: ctx.resolve(PROJECTS),
    processes: runtime.processes,
    bugs: () => ctx.find(BUGS),
    history: () => ctx.find(BUILD_HISTORY),
    faults: () => ctx.find(VERSION_FAULTS),
    fixes: () => ctx.find(VERSION_FIXES),
    health: () => ctx.find(RELEASE_HEALTH),
    machines: () => ctx.find(MACHINES),
    short: () => ctx.find(STORAGE_SPACE)?.isLow() ?? false,
    packageBytes: ctx.app.limits['package_bytes'] ?? DEFAULT_MAX_PACKAGE_BYTES,
    protect,
    alone: runtime.engine !== 'mongodb',
  };
}

function createJobs({ reconciler, resigning, halting, latest }: ReleaseServices): JobSpec[] {
  return [
    {
      name: 'reconcile',
      everyMs: 30 * SECOND_MS,
      timeoutMs: 10 * MINUTE_MS,
      run: ({ signal }) => reconciler.run(signal),
    },
    {
      name: 'latest',
      everyMs: MINUTE_MS,
      timeoutMs: 5 * MINUTE_MS,
      run: ({ signal }) => latest.repair({ signal }),
    },
    { name: 'halt', everyMs: 30 * SECOND_MS, run: async ({ signal }) => void (await halting.checkAll(signal)) },
    {
      name: 'state',
      everyMs: 60 * MINUTE_MS,
      timeoutMs: 10 * MINUTE_MS,
      run: async () => void (await resigning.resign()),
    },
    {
      name: 'compare',
      everyMs: 60 * MINUTE_MS,
      timeoutMs: 30 * MINUTE_MS,
      run: ({ signal }) => reconciler.compare(signal),
    },
  ];
}

export default definePlugin<ReleasesConfig>({
  id: 'releases',
  version: '1.0.0',
  api: 1,
  title: 'Update service and release store',
  ports: ['installers', 'releaseStore', 'signers'],
  needs: [ACCOUNTS.name, AUDIT.name, LIVE_TOKENS.name, LOGIN_ATTEMPT_LIMITER.name, PROJECTS.name, RUNTIME.name],
  uses: [
    BUGS.name,
    BUILD_HISTORY.name,
    VERSION_FAULTS.name,
    VERSION_FIXES.name,
    RELEASE_HEALTH.name,
    MACHINES.name,
    STORAGE_SPACE.name,
    LICENSES.name,
  ],
  provides: [RELEASES.name, RELEASE_SIGNING.name, RELEASE_STORE.name],
  extends: [
    PROJECT_USAGE.point,
    PROJECT_PARTS.point,
    VERSION_FAULT_LISTENERS.point,
    ACCOUNT_CHANGE_LISTENERS.point,
    LICENSE_CHANGE_LISTENERS.point,
    SEARCH_PROVIDERS.point,
    RELEASE_LINKS.point,
    LIVE_TOPICS.point,
    ONBOARDING_STEPS.point,
    MACHINE_RELEASES.point,
  ],
  config: releasesConfig,
  scopes: ['updateservice:publish'],
  errors: RELEASE_ERRORS,
  events: [RELEASE_PUBLISHED.event, RELEASE_HALTED.event, RELEASE_ROLLED_BACK.event],
  tags: { updateservice: 'Releases: published by CI, rolled out in stages, checked by machines.' },
  collections: COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    const services = buildServices(
      ctx,
      createDeps(ctx, (product) => store.files.protect(product)),
    );
    const store = assembleStore(ctx, services);
    const { deps, index, reconciler, files, halting, directory, resigning, stamps } = services;
    const resign = (): void =>
      void resigning.resign().catch((err: unknown) => deps.log.error({ err }, 'releases could not be re-signed'));
    let unwatch = (): void => undefined;
    const published = async (product: string): Promise<boolean> =>
      (await deps.releases.find({ filter: { product }, limit: 1 })).items.length > 0;
    return {
      routes: [
        ...updateCheckRoutes(services),
        ...publishingRoutes(services),
        commitsRoute(services),
        ...(store.parts.routes ?? []),
      ],
      pages: [...releasePages(services), ...(store.parts.pages ?? [])],
      panels: releasePanels(services, async () => (await store.files.getState())?.self_test ?? undefined),
      commands: store.parts.commands ?? [],
      jobs: [...createJobs(services), ...(store.parts.jobs ?? [])],
      services: { [RELEASES.name]: directory, [RELEASE_SIGNING.name]: resigning, [RELEASE_STORE.name]: store.care },
      extensions: [
        ...(store.parts.extensions ?? []),
        extend(PROJECT_USAGE, { noun: 'releases', isInUse: published }),
        extend(PROJECT_PARTS, buildReleasePart(services)),
        extend(SEARCH_PROVIDERS, createReleaseSearch(deps)),
        extend(RELEASE_LINKS, createReleaseLinks(deps)),
        extend(ONBOARDING_STEPS, {
          id: 'release',
          order: 50,
          title: 'Publish a release',
          text: 'Publishes a sample release. Replace hello/ with your build folder.',
          page: { label: 'Releases', href: '/releases' },
          isDone: async () => (await deps.releases.find({ limit: 1 })).items.length > 0,
          command: buildFirstReleaseCommand,
          token: { name: 'first release', scopes: ['updateservice:publish'] },
        }),
        extend(LIVE_TOPICS, createReleaseTopic(deps)),
        extend(MACHINE_RELEASES, createMachineReleases(index)),
        extend(VERSION_FAULT_LISTENERS, { onFaultCounted: () => halting.scheduleCheck() }),
      ],
      health: async () => {
        const protection = await store.care.getHealth();
        const ok = protection.ok && reconciler.lost.length === 0;
        return { ...protection, ok, lost: reconciler.lost, files_fault: files.fault };
      },
      start: async () => {
        registerKeyMetrics(ctx.ports.metrics, deps.signer);
        await stamps.start();
        await index.start();
        await reconciler.start();
        files.start();
        // Products without their files stay closed.
        await store.files
          .writeMissing()
          .catch((err: unknown) =>
            deps.log.error({ err }, 'the access files could not be written; this will be retried'),
          );
        unwatch = deps.signer.onRotated(resign);
      },
      stop: async () => {
        unwatch();
        await files.stop();
        await halting.drain();
        await index.stop();
      },
    };
  },
});
