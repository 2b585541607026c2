import joi from 'joi';
import { withSchemaName, whole } from '../../../kernel/contract/index.js';
import { UPTIME_RETENTION_DAYS } from '../model/uptime.js';

export const daysParam = joi.number().integer().min(1).max(UPTIME_RETENTION_DAYS);

const seconds = joi.number().integer().min(0);
const share = joi
  .number()
  .allow(null)
  .description('Share of the monitored time that was not down; null if it was not monitored');
const day = whole({
  day: joi.string(),
  up_seconds: seconds,
  warning_seconds: seconds,
  down_seconds: seconds,
  share,
});
const uptime = { share, days: joi.array().items(day) };

export const uptimeOfDays = withSchemaName('UptimeDays', whole(uptime));
export const uptimeOutput = withSchemaName('Uptime', whole({ source: joi.string(), ...uptime }));
