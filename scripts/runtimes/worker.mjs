// The contract on workerd: the lane bundles this file and asks it once.
import { createGateway } from 'hookgate/edge'
import { coreContract } from './contract.mjs'

export default {
  async fetch(_request, env) {
    return Response.json(await coreContract(createGateway, JSON.parse(env.LANE)))
  },
}
