import joi from 'joi';
import { bindAll, definePlugin, extend } from '../../kernel/contract/index.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { MONITOR_PROBES, WATCHDOG } from '../../ports/domain/watchdog.js';
import { ProbeRunner } from './runner/probe-runner.js';
import { ProbeScheduler } from './runner/probe-scheduler.js';
import { DEPS, type ProbesConfig, type ProbesDeps } from './deps.js';
import { buildProbeRoutes } from './probe-routes.js';
import { formatTarget, type Probe } from './model/probe.js';
import { findUnknownFields } from './model/probe-schema.js';
import { getProbeHref, NEW_PROBE_PATH } from './pages/probe-form.js';
import { listProbeKinds } from './pages/probe-kinds.js';
import { buildProbePages } from './pages/probe-pages.js';
import { ProbeService, type PreparedProbe } from './probe-service.js';

const config = joi.object({
  enabled: joi
    .boolean()
    .default(true)
    .description('Run due probes in this process; if disabled, another process must run them'),
  egress_policy: joi
    .string()
    .valid('private-ok', 'public-only')
    .default('private-ok')
    .description('Allowed targets of probes, like `webhooks.egress_policy`'),
  allow_cidrs: joi
    .array()
    .items(joi.string().ip({ cidr: 'required' }))
    .default([])
    .description('Networks that `public-only` allows'),
});

export default definePlugin<ProbesConfig>({
  id: 'probes',
  version: '1.0.0',
  api: 1,
  title: 'Probes',
  ports: ['reach'],
  needs: [AUDIT.name, SYSTEM.name, WATCHDOG.name],
  extends: [MONITOR_PROBES.point],
  config,
  tags: { probes: 'Active checks over HTTP, and of ports, certificates, names and machines.' },
  collections: [
    { name: 'probes', indexes: [{ fields: ['updated_at'] }] },
    { name: 'leases', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    const { clock, ids, log, app } = ctx;
    const { cipher, outbound, reach, metrics } = ctx.ports;
    const deps: ProbesDeps = {
      probes: ctx.collection('probes'),
      leases: ctx.collection('leases'),
      clock,
      ids,
      log,
      cipher,
      outbound,
      reach,
      processes: ctx.resolve(SYSTEM).processes,
      watchdog: ctx.resolve(WATCHDOG),
      policy: { mode: ctx.config.egress_policy, allow: ctx.config.allow_cidrs },
      version: app.version,
    };
    bindAll(ctx, DEPS, deps);
    const { probes, asker, prober } = ctx.services({
      probes: ProbeService,
      asker: ProbeRunner,
      prober: ProbeScheduler,
    });
    metrics.gauge('aos_probes_asked', 'Probes that this process runs; 0 if another one does', () => prober.size);
    const services = { probes, asker, clock, watchdog: ctx.resolve(WATCHDOG), audit: ctx.resolve(AUDIT) };
    return {
      extensions: [
        extend(MONITOR_PROBES, {
          validate: (given, source) => probes.prepare(given, source),
          listUnknownFields: findUnknownFields,
          save: (source, checked) => probes.save(source, checked as PreparedProbe),
          find: (source) => probes.getView(source),
          normalize: (given) => ({ ...probes.validate(given) }),
          findWithSecrets: (source) => probes.findWithSecrets(source),
          formatSummary: (probe) => formatTarget(probe as unknown as Probe),
          getHref: (source) => (source === null ? NEW_PROBE_PATH : getProbeHref(source)),
          listKinds: listProbeKinds,
        }),
      ],
      routes: buildProbeRoutes(services),
      pages: buildProbePages(services),
      start: async () => {
        if (ctx.config.enabled) prober.start();
      },
      stop: () => prober.stop(),
    };
  },
});
