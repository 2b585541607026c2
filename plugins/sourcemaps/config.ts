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
    .description('Source maps are kept for so long after a frame was last rewritten by them, or after their upload.'),
  sourcemap_bytes: joi
    .number()
    .integer()
    .min(0)
    .max(1_099_511_627_776)
    .unit('bytes')
    .default(2_147_483_648)
    .description(
      'Size of the source maps of one project, as they were uploaded; beyond it the oldest go. 0: takes none.',
    ),
});
