/**
 * Configuration as code (contract 97, apply): plugins contribute kinds of objects, and a document
 * describes the objects. Nothing else depends on this folder.
 */
import { definePlugin } from '../../kernel/contract/index.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { CONFIG_KINDS, type ConfigKind } from '../../ports/domain/config/kinds.js';
import { LIVE_TOKENS } from '../../ports/domain/live-tokens.js';
import { CATALOG } from '../../ports/domain/system.js';
import { ApplyService } from './apply-service.js';
import { buildApplyRoutes } from './routes.js';

export default definePlugin({
  id: 'apply',
  version: '1.0.0',
  api: 1,
  title: 'Configuration as code',
  needs: [AUDIT.name, CATALOG.name, LIVE_TOKENS.name],
  extensionPoints: [CONFIG_KINDS.point],
  ports: ['yaml'],
  scopes: ['system:manage'],
  setup(ctx) {
    const kinds = (): readonly ConfigKind[] => ctx.extensions(CONFIG_KINDS).toSorted((a, b) => a.order - b.order);
    const service = new ApplyService({
      kinds,
      live: ctx.resolve(LIVE_TOKENS),
      yaml: ctx.ports.yaml,
      audit: ctx.resolve(AUDIT),
      lock: (work) => ctx.lock('apply', work),
    });
    return { routes: buildApplyRoutes({ service, kinds, catalog: ctx.resolve(CATALOG) }) };
  },
});
