"""Haskell as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = r"""{-# LANGUAGE OverloadedStrings, GADTs #-}
{-# OPTIONS_GHC -Wall #-}
-- | Shapes, and what can be asked about them.
module Data.Shape
  ( Shape(..)
  , Circle, find, (<+>)
  , module Data.Shape.Extra
  ) where

import qualified Data.Map.Strict as M
import Data.List (sort, Ord(..), (\\))
import Data.Set hiding (map)
import Control.Monad

#ifdef TRACE
import Debug.Trace
#endif

infixl 6 <+>

-- | A circle, or a box.
data Circle a
  = Circle { radius :: !Double -- ^ of the rim
           , left, top :: a
           }
  | Box Int a
  deriving (Show, Eq)

newtype Name = Name { unName :: String } deriving newtype (Ord)

type Names = [Name]

type family Elem a where
  Elem [a] = a
  Elem a = a

-- | What has an area.
class Eq a => Shape a where
  -- | How large it is.
  area :: a -> Double
  area _ = 0
  {-# MINIMAL area #-}

instance Eq a => Shape (Circle a) where
  area (Circle r _ _) = pi * r ^ 2
  area (Box n _)
    | n > 1 = fromIntegral n
    | otherwise = small -- alone
    where small = 1

data Term a where
  Number :: Int -> Term Int
  Truth :: { truth :: Bool } -> Term Bool

-- | The first one that is
-- the same.
find :: forall a. (Eq a, Show a) => a -> [a] -> Maybe a
find _ [] = Nothing
find x (y:ys)
  | x == y, let z = 1 = Just y
  | Just q <- look x = find q ys
  | otherwise = error "none"
  where
    look :: a -> Maybe a
    look 0 = Nothing
    look n = go (n - 1)
    (a, b) = (1, 2)
    go = \n -> Just $ n + -1

(<+>) :: Int -> Int -> Int
a <+> b = a + b
x `plus` y = x <+> y

low, high :: Int
low = 1
high = low `plus` 9

{-# INLINE main #-}
main :: IO ()
main = do
  line <- getLine
  let size = length line
      twice w = w * 2
  if size > 1 then return () else do
    putStrLn "short"
  case line of
    "a" -> print 1
    _ | size > 3 -> print [x | x <- [1..10], odd x]
      | otherwise -> forM_ line $ \c -> do
          print c
  M.foldr (\v rest -> v >> rest) (pure ()) M.empty

foreign import ccall "sin" c_sin :: Double -> Double

makeLenses ''Circle
"""

CONDITIONS = """\
module Decider where

decide :: Mode -> Int -> IO ()
decide mode size
  | size < 0 = tooSmall size
  | Just found <- look size = use found
  | otherwise = fits size

chosen :: Int -> Int
chosen size = if size == 1 then one size else several size

use :: Mode -> IO ()
use mode = case mode of
  Read -> open mode
  Seek place -> seek place
  _ -> refuse mode

guarded :: Bool -> IO ()
guarded ready = do
  unless ready $ wait 1
  when (ready && True) $ go 2
  always 3
"""

OPENING = """\
module Walker where

apart :: Int -> Int
apart size =
  -- Walk all of it once,
  -- in order.

  start size

whole :: Int -> Int
whole size =
  -- Walk all of it once, in order.
  start size

task :: Int -> Int
task size =
  -- TODO: walk all of it once, in order.

  start size

code :: Int -> Int
code size =
  -- walk(all, once);

  start size
"""

CASE = LanguageCase(
    language="haskell",
    path="src/Data/Shape.hs",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ( Shape(..)\n  , Circle, find", " (Shape(..), Circle, find")
    .replace("\n  , module Data.Shape.Extra\n  ) where", ", module Data.Shape.Extra) where")
    .replace("data Circle a\n  = Circle {", "data Circle a = Circle\n  {")
    .replace("    where small = 1", "    where\n      small = 1")
    .replace("  line <- getLine\n", "  line <-\n    getLine\n")
    .replace('    "a" -> print 1\n', '    "a" ->\n      print 1\n')
    .replace("\n\nlow, high", "\n\n\n\nlow, high"),
    commented=SOURCE.replace(" -- alone", " {- alone -}")
    .replace("  line <- getLine\n", "  -- ask\n  line <- getLine -- and wait\n")
    .replace("low = 1\n", "-- the least\nlow = 1\n"),
    edit=("n + -1", "n + -2"),
    edited=frozenset({"find", "find::go"}),
    rename=("x `plus` y = x", "x `minus` y = x"),
    renamed={"plus": "minus"},
    is_braced=False,
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "look": "",
        "use": "look size is Just found",
        "fits": "",
        "one": "size == 1",
        "several": "size != 1",
        "open": "mode is Read",
        "seek": "mode is Seek place",
        "refuse": "mode is anything else",
        "unless": "",
        "wait": "not ready",
        "when": "",
        "go": "ready && True",
        "always": "",
    },
    opening=OPENING,
)
