import joi from 'joi';
import { withSchemaName, whole, type Clock, type RouteSpec } from '../../kernel/contract/index.js';
import type { ProbeRunner } from './runner/probe-runner.js';
import { probeSchema, findUnknownFields } from './model/probe-schema.js';
import { getDaysLeft, toVisibleResult, type ProbeResult, type ResultVisibility } from './model/probe-result.js';
import type { ProbeService } from './probe-service.js';

export interface TrialServices {
  probes: Pick<ProbeService, 'toRunnableProbe'>;
  asker: Pick<ProbeRunner, 'run'>;
  clock: Clock;
}

const nullableText = joi.string().allow(null);

export function toTrialView(result: ProbeResult, now: number, sight: ResultVisibility): object {
  const {
    certificate,
    public: _public,
    bare_message: _bare,
    unsupported: _unsupported,
    ...seen
  } = toVisibleResult(result, sight);
  return {
    ...seen,
    certificate: certificate && { ...certificate, days_left: getDaysLeft(certificate, now) },
  };
}

export const buildProbeRoutes = ({ probes, asker, clock }: TrialServices): RouteSpec[] => [
  {
    method: 'POST',
    path: '/api/probes/v1/try',
    operationId: 'tryProbe',
    summary: 'Run a probe once and return its result, without storing it',
    description:
      'Returns 200 even if the target did not respond: `ok` is the result. `excerpt` is the start of an HTTP response, or the records of a name; ' +
      'for a token of one project it is null, and `message` quotes nothing, if it came from a private address, or from a DNS server ' +
      'in the internal network. Records that are not addresses then require a public `resolver`.',
    access: { scope: 'watchdog:manage' },
    limits: { rate: 'bulk' },
    input: { body: withSchemaName('ProbeTrial', joi.object({ probe: probeSchema.required() })) },
    output: withSchemaName(
      'ProbeTrialAnswer',
      whole({
        seen: withSchemaName(
          'ProbeSeen',
          whole({
            ok: joi.boolean(),
            message: joi.string(),
            response_ms: joi.number().allow(null),
            status: joi.number().allow(null),
            redirects: joi.array().items(joi.string()),
            excerpt: nullableText,
            certificate: whole({
              subject: joi.string().allow(''),
              issuer: joi.string().allow(''),
              valid_until: joi.string().isoDate(),
              days_left: joi.number(),
            }).allow(null),
          }),
        ),
      }),
    ),
    handle: async ({ body, principal }) => {
      const given = (body as { probe: unknown }).probe;
      const probe = await probes.toRunnableProbe(given, null);
      // Internal addresses' responses are only for administrators and tokens of the whole service.
      const sight = principal.kind === 'token' && principal.project === null ? 'all' : 'public';
      const seen = toTrialView(await asker.run(probe), clock.now(), sight);
      const warnings = findUnknownFields(given);
      return { seen, ...(warnings.length > 0 && { warnings }) };
    },
  },
];
