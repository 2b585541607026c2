import joi from 'joi';

export interface ReleaseHealthConfig {
  days: number;
}

export const healthConfigSchema = joi.object<ReleaseHealthConfig>({
  days: joi.number().integer().min(1).max(400).unit('days').default(30).description('Retention of session counts.'),
});
