import joi from 'joi';
import { withSchemaName } from '../../../kernel/contract/index.js';
import { MAX_GRACE_SECONDS, MAX_INTERVAL_SECONDS } from '../model/timing.js';
import { interval, sourceText } from './schemas.js';

const monitorFields = {
  name: joi.string().max(200).allow(null, ''),
  parent_source: sourceText.allow(null),
  interval_seconds: interval,
  schedule: joi
    .string()
    .max(200)
    .allow(null)
    .description('Instead of an interval: five cron fields, or a name such as `@daily`'),
  timezone: joi.string().max(64).allow(null).description('IANA time zone of the schedule; default: UTC'),
  grace_seconds: joi
    .number()
    .min(1)
    .max(MAX_GRACE_SECONDS)
    .allow(null)
    .description('How late a heartbeat may be after its due time or the period; default: 3,600'),
  period_seconds: joi
    .number()
    .min(1)
    .max(MAX_INTERVAL_SECONDS)
    .allow(null)
    .description(
      'Instead of an interval: a warning after this time without a heartbeat, down after `grace_seconds` more',
    ),
  max_run_seconds: joi
    .number()
    .min(1)
    .max(MAX_GRACE_SECONDS)
    .allow(null)
    .description('How long a run may take after `/start`; default: the grace period'),
  tags: joi
    .array()
    .items(joi.string().trim().min(1).max(64))
    .max(20)
    .unique()
    .description('For filters of lists and notification channels'),
  group: joi.boolean().description('Its state is the worst state of its children'),
  description: joi.string().max(5000).allow(null, ''),
  os: joi.string().max(200).allow(null, ''),
  project: joi.string().max(64).allow(null),
  public: joi.boolean(),
  probe: joi
    .object()
    .unknown()
    .meta({ validated_elsewhere: true })
    .allow(null)
    .description('Active check by the service, as described in `Probe`; null for none. If omitted, it is unchanged'),
};

export const monitorBody = withSchemaName(
  'MonitorCreation',
  joi
    .object({ source: sourceText.required(), ...monitorFields })
    .example({ source: 'web-1', name: 'Web server', interval_seconds: 60 }),
);
export const editBody = joi.object(monitorFields);
export const patchBody = withSchemaName(
  'MonitorChange',
  joi.object({ source: sourceText.description('Must be unchanged, because it cannot be changed'), ...monitorFields }),
);
