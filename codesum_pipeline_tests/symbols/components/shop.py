"""A small shop whose pages are components of Vue, Svelte and Astro beside TypeScript."""

PRICES = """\
export function formatPrice(cents: number): string {
    return (cents / 100).toFixed(2);
}

export async function loadBasket(id: string): Promise<Item[]> {
    return fetch(`/basket/${id}`).then((answer) => answer.json());
}
"""
ITEM_CARD = """\
<!-- Shows one item of the basket with its price. -->
<script setup lang="ts">
import BaseIcon from '@/components/BaseIcon.vue'
import { formatPrice } from '../prices'

const props = defineProps<{ title: string; cents: number; note?: string }>()
const emit = defineEmits<{ (event: 'remove', id: string): void; (event: 'open'): void }>()

/** Asks whether the item may go, and says so. */
function removeItem(id: string) {
  if (confirm('Really?')) {
    emit('remove', id)
  }
}
</script>

<template>
  <article v-for="line in lines" :key="line">
    <base-icon name="bin" @click="removeItem(line)" />
    <BaseIcon name="info" @click="open" />
    <p>Delivered within a fortnight: {{ formatPrice(cents) }}</p>
    <slot name="footer" />
  </article>
</template>

<style scoped>
article { color: teal; }
</style>
"""
BASE_ICON = """\
<template>
  <svg class="icon" />
</template>
"""
BASKET = """\
<template>
  <ItemCard v-for="item in sorted" @remove="drop" :title="item.title" />
  <button @click="clear()">{{ label }}</button>
</template>

<script>
import ItemCard from './components/ItemCard.vue'
import { loadBasket } from './prices'

/** The basket of the customer. */
export default {
  components: { ItemCard },
  props: { owner: { type: String, required: true }, limit: Number },
  emits: ['emptied'],
  computed: {
    sorted() {
      return sortItems(this.items)
    },
  },
  methods: {
    drop(id) {
      this.items = this.items.filter((item) => item.id !== id)
    },
    clear() {
      this.drop(null)
      this.$emit('emptied')
    },
    loadBasket() {
      return loadBasket(this.owner)
    },
  },
}

function sortItems(items) {
  return [...items].sort((one, other) => one.cents - other.cents)
}
</script>
"""
RATING = """\
<!--
@component
Stars that a customer gives.
-->
<script context="module" lang="ts">
  export function averageOf(stars: number[]): number {
    return stars.reduce((sum, one) => sum + one, 0) / stars.length;
  }
</script>

<script lang="ts">
  import { createEventDispatcher } from 'svelte';
  import Star from './Star.svelte';
  import { formatPrice } from './prices';

  export let stars: number[];
  export let most = 5;
  const dispatch = createEventDispatcher();

  function rate(number: number) {
    dispatch('rated', { number });
  }
</script>

{#each stars as star, place (place)}
  <Star filled={star > place} on:click={() => rate(place)} />
{/each}
<p use:tooltip>{averageOf(stars)} {formatPrice(most)}</p>
"""
STAR = """\
<script lang="ts">
  let { filled, size = 16 }: { filled: boolean; size?: number } = $props();
</script>

<i class:filled style="width: {size}px" on:click></i>
"""
HOME = """\
---

import Layout from '../layouts/Layout.astro';
import Rating from '../Rating.svelte';
import { formatPrice } from '@/prices';

interface Props {
  greeting: string;
  offers?: number[];
}
const { greeting, offers = [] } = Astro.props;

function shout(text: string) {
  return text.toUpperCase();
}
export async function getStaticPaths() {
  return [{ params: { page: shout('home') } }];
}
---
<!-- The first page of the shop. --><Layout title={shout(greeting)}>
  {offers.map((offer) => <Rating stars={[offer]}>{formatPrice(offer)}</Rating>)}
</Layout>

<script>
  import { loadBasket } from '../prices';
  function showBasket() {
    return loadBasket('mine');
  }
  showBasket();
</script>
"""
LAYOUT = """\
<html><body><slot /></body></html>
"""
MAIN = """\
import { createApp } from 'vue';
import Basket from './Basket.vue';
import { averageOf } from './Rating.svelte';

createApp(Basket).mount('#app');
averageOf([1]);
"""
TSCONFIG = '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}\n'
SHOP = {
    "tsconfig.json": TSCONFIG,
    "src/main.ts": MAIN,
    "src/prices.ts": PRICES,
    "src/Basket.vue": BASKET,
    "src/Rating.svelte": RATING,
    "src/Star.svelte": STAR,
    "src/components/ItemCard.vue": ITEM_CARD,
    "src/components/BaseIcon.vue": BASE_ICON,
    "src/layouts/Layout.astro": LAYOUT,
    "src/pages/home.astro": HOME,
}
