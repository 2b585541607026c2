import type { Authenticator, MountedPage, MountedPanel, MountedRoute, PageSpec } from '../ports/http/index.js';
import type { JobSpec } from '../ports/jobs.js';
import type { Ids } from '../ports/ids.js';
import type { Logger } from '../ports/logger.js';
import type { ClockTrust } from './system/clock-trust.js';
import type { PluginRun } from './plugin-run.js';

export function mountRoutes(run: PluginRun): MountedRoute[] {
  const { title, tags } = run.manifest;
  const about = { title, tags };
  return (run.parts.routes ?? []).map((spec) => ({ plugin: run.id, about, spec, ready: run.isReady }));
}

export function mountPages(run: PluginRun, log: Logger): MountedPage[] {
  const views = run.registered.views ?? '';
  return (run.parts.pages ?? []).map((spec) => ({
    plugin: run.id,
    spec: guardHandler(spec, run, log),
    views,
    ready: run.isReady,
  }));
}

/** A failing badge hides the number instead of breaking every page. */
function guardHandler(spec: PageSpec, run: PluginRun, log: Logger): PageSpec {
  const badge = spec.nav?.badge;
  if (spec.nav === undefined || badge === undefined) return spec;
  const quiet = async (project?: string | null): Promise<number | null> =>
    run.isReady() ? catchToNull(() => badge(project), log, { plugin: run.id, page: spec.path }) : null;
  return { ...spec, handle: (request) => spec.handle(request), nav: { ...spec.nav, badge: quiet } };
}

/** A panel that throws, or whose plugin is not ready, is omitted. */
export function mountPanels(run: PluginRun, log: Logger): MountedPanel[] {
  const views = run.registered.views ?? '';
  return (run.parts.panels ?? []).map((spec) => ({
    plugin: run.id,
    views,
    spec: {
      ...spec,
      load: async (principal, project) =>
        run.isReady()
          ? catchToNull(() => spec.load(principal, project), log, { plugin: run.id, panel: spec.id })
          : null,
    },
  }));
}

/**
 * A job runs only while its plugin is ready; one that deletes by age only while the clock is
 * trusted.
 */
export function guardJob(job: JobSpec, run: PluginRun, trust: Pick<ClockTrust, 'check'>): JobSpec {
  return {
    ...job,
    run: async (call) => {
      if (!run.isReady())
        throw new Error(`plugin ${run.id} is ${run.state}${run.reason === null ? '' : `: ${run.reason}`}`);
      if (job.removesByAge === true && !(await trust.check()).believed) return;
      await job.run(call);
    },
  };
}

/** Without an access plugin no credential is valid, so only public routes open. */
export function createNullAuthenticator({ log, ids }: { log: Logger; ids: Ids }): Authenticator {
  log.warn({}, 'no plugin provides access.authenticator: all credentials will be rejected');
  return {
    authenticateBearer: async () => null,
    authenticateSession: async () => null,
    getCsrfToken: () => ids.secret(),
  };
}

async function catchToNull<T>(work: () => Promise<T | null>, log: Logger, where: object): Promise<T | null> {
  try {
    return await work();
  } catch (err) {
    log.error({ err, ...where }, 'a part of a page failed');
    return null;
  }
}
