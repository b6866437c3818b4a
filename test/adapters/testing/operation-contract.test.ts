// The contract for codecs of operations: a careful one passes, and the cases find what is wrong with a careless one.
import { describe, expect, it } from 'vitest'
import { operationContract } from '../../../adapters/testing/operation-contract/operation-contract.ts'
import { carefulEmbeddings, carelessEmbeddings, ownEmbeddings } from './own-embeddings.ts'

describe('a codec of a provider’s own', () => {
  for (const { name, run } of operationContract(ownEmbeddings(carefulEmbeddings))) it(name, run)
})

describe('a careless codec', () => {
  const cases = operationContract(ownEmbeddings(carelessEmbeddings))
  const failing = ['a wrong value in any place', 'an answer that cannot be read', 'the usage is the vendor’s']
  for (const part of failing)
    it(`fails: ${part}`, async () => {
      const found = cases.find(({ name }) => name.includes(part))
      await expect(found?.run()).rejects.toThrow()
    })
})
