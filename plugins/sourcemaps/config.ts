/** Section `errors` of the configuration: retention and size limit of uploads. */
import joi from 'joi';

export interface SourceMapConfig {
  sourcemap_days: number;
  sourcemap_bytes: number;
}

export const sourceMapConfigSchema = joi.object<SourceMapConfig>({
  sourcemap_days: joi
    .number()
    .integer()
    .min(1)
    .max(3_650)
    .unit('days')
    .default(90)
    .description('Retention of source maps after they last mapped a frame, or after their upload.'),
  sourcemap_bytes: joi
    .number()
    .integer()
    .min(0)
    .max(1_099_511_627_776)
    .unit('bytes')
    .default(2_147_483_648)
    .description(
      'Maximum upload size of the source maps of one project; beyond it the oldest are deleted. 0: uploads are disabled.',
    ),
});
