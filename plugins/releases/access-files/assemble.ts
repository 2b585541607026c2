import { bindAll, extend, type PluginContext, type PluginParts } from '../../../kernel/contract/index.js';
import { MINUTE_MS } from '../../../lib/time.js';
import { ACCOUNT_CHANGE_LISTENERS, ACCOUNTS, LOGIN_ATTEMPT_LIMITER } from '../../../ports/domain/access.js';
import { LICENSE_CHANGE_LISTENERS, LICENSES } from '../../../ports/domain/licensing.js';
import { RUNTIME } from '../../../ports/domain/system.js';
import type { ReleasesConfig } from '../config.js';
import type { ReleaseServices } from '../services.js';
import { isPlatform } from '../../../lib/formats/platform.js';
import { isVersion } from '../../../lib/versions.js';
import type { ReleaseDoc } from '../model.js';
import { getReleaseId } from '../release-place.js';
import { createStoreRoute } from './store-route.js';
import { StoreGuard } from './store-guard.js';
import { StoreProtectionService } from './store-protection.js';
import { storeCommands } from './commands.js';
import { ACCESS_FILES_DEPS, type AccessFilesDeps } from './deps.js';
import { AccessFileGenerator } from './access-file-generator.js';
import { protectionPages } from './protection-page.js';

type StorePluginParts = Pick<PluginParts, 'routes' | 'pages' | 'jobs' | 'commands' | 'extensions'>;

function createDeps(
  ctx: PluginContext<ReleasesConfig>,
  { index, deps: { releases, leases, audit, log, clock } }: Pick<ReleaseServices, 'index' | 'deps'>,
): AccessFilesDeps {
  return {
    store: ctx.ports.releaseStore,
    rows: ctx.collection('access'),
    leases,
    clock,
    ids: ctx.ids,
    log,
    hasher: ctx.ports.hasher,
    outbound: ctx.ports.outbound,
    processes: ctx.resolve(RUNTIME).processes,
    accounts: ctx.resolve(ACCOUNTS),
    attempts: ctx.resolve(LOGIN_ATTEMPT_LIMITER),
    audit,
    licenses: () => ctx.find(LICENSES),
    newest: async (product) => {
      const newest = { filter: { product, withdrawn_at: null }, sort: [['published_at', 'desc']], limit: 1 } as const;
      return (await releases.find(newest)).items[0] ?? null;
    },
    isReleased: async ({ product, channel, version, platform }) => {
      if (!isPlatform(platform) || !isVersion(version)) return false;
      // The release has the path of its version's first spelling.
      const isHere = (release: Pick<ReleaseDoc, 'version' | 'withdrawn_at'> | null | undefined): boolean =>
        release?.version === version && release.withdrawn_at === null;
      return (
        isHere(index.getChannel(product, channel).releases.find(version, platform)) ||
        isHere(await releases.get(getReleaseId(product, channel, version, platform)))
      );
    },
    downloaded: ({ product, channel, version, platform }) => {
      if (!isPlatform(platform)) return;
      releases
        .change({ id: getReleaseId(product, channel, version, platform) }, { inc: { downloads: 1 } })
        .catch((err: unknown) => log.warn({ err, product, version }, 'a download could not be counted'));
    },
    webPath: ctx.config.web_path,
    place:
      ctx.config.url === null
        ? (ctx.ports.releaseStore.folder ?? 'memory')
        : 'MongoDB (GridFS), served only by this service',
    readers: getFileReaders(ctx.config),
    selfTestKey: ctx.ports.cipher.derive('releases.selftest'),
    address: () => (ctx.config.selftest_url ?? ctx.app.base_url).replace(/\/+$/, ''),
  };
}

function getFileReaders({ web_group, web_path }: ReleasesConfig): AccessFilesDeps['readers'] {
  if (web_group !== null) return 'group';
  return web_path === null ? 'service' : 'everybody';
}

export interface StoreServices {
  files: AccessFileGenerator;
  care: StoreProtectionService;
  parts: StorePluginParts;
}

export function assembleStore(ctx: PluginContext<ReleasesConfig>, services: ReleaseServices): StoreServices {
  const deps = createDeps(ctx, services);
  bindAll(ctx, ACCESS_FILES_DEPS, deps);
  const { files, care, guard } = ctx.services({
    files: AccessFileGenerator,
    care: StoreProtectionService,
    guard: StoreGuard,
  });
  // The self-test sends network requests that an administrator should not wait for.
  const changed = async (): Promise<void> => void (await files.regenerate());
  return {
    files,
    care,
    parts: {
      routes: [createStoreRoute(guard, deps)],
      pages: protectionPages(care, files, services.deps.projects, deps),
      commands: storeCommands(care, deps.audit),
      jobs: [
        { name: 'access', everyMs: MINUTE_MS, timeoutMs: 5 * MINUTE_MS, run: async () => void (await care.run()) },
      ],
      extensions: [
        extend(ACCOUNT_CHANGE_LISTENERS, { onChange: changed }),
        extend(LICENSE_CHANGE_LISTENERS, { onChange: changed }),
      ],
    },
  };
}
