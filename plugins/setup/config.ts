import joi from 'joi';

export interface SetupConfig {
  built_agents: string;
}

export const setupConfig = joi.object<SetupConfig>({
  built_agents: joi
    .string()
    .min(1)
    .default('build/agent')
    .description(
      'Folder of the update agents built by `npm run build:agent`; a relative path is below the folder of the service',
    ),
});
