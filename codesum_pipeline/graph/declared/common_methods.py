"""Method names that tell no class, by family: the standard library of its languages has them too.

Where nothing is known of an object, a call of such a method is most often the library's. Only names that could be
followed by name alone stand here: those of two words, and long enough (`unique.is_telling`).
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The C++ standard library (https://en.cppreference.com/w/cpp): containers, strings, streams, views, optional and
# expected values, paths, futures, locks and atomics.
C_FAMILY = _names("""
    and_then append_range arrive_and_drop arrive_and_wait assign_range before_begin bucket_count bucket_size
    cbefore_begin compare_exchange_strong compare_exchange_weak emplace_after emplace_back emplace_front emplace_hint
    ends_with equal_range erase_after error_or fetch_add fetch_and fetch_or fetch_sub fetch_xor file_size
    find_first_not_of find_first_of find_last_not_of find_last_of generic_string get_allocator get_deleter get_future
    get_stop_token hard_link_count has_extension has_filename has_parent_path has_value hash_code hash_function
    insert_after insert_or_assign insert_range is_absolute is_directory is_lock_free is_regular_file is_relative
    key_comp last_write_time lexically_normal lexically_relative load_factor lock_shared lower_bound
    make_ready_at_thread_exit max_bucket_count max_load_factor max_size native_handle notify_all notify_one
    owner_before parent_path pop_back pop_front prepend_range push_back push_front relative_path remove_filename
    remove_if remove_prefix remove_suffix replace_extension replace_filename request_stop resize_and_overwrite
    root_directory root_name root_path set_exception set_exception_at_thread_exit set_value set_value_at_thread_exit
    shrink_to_fit splice_after starts_with stop_requested symlink_status target_type test_and_set time_since_epoch
    to_string to_ullong to_ulong transform_error try_acquire try_acquire_for try_acquire_until try_emplace try_lock
    try_lock_for try_lock_shared try_lock_until try_wait unlock_shared upper_bound use_count value_comp value_or
    wait_for wait_until
""")

# The .NET class library (https://learn.microsoft.com/dotnet/api): System, System.Collections, System.Linq, System.IO,
# System.Text, System.Threading,
# System.Net.Http, Microsoft.Extensions and Entity Framework Core.
C_SHARP = _names("""
    AddAfter AddAsync AddBefore AddFirst AddHours AddMilliseconds AddMinutes AddMonths AddOrUpdate AddRange
    AddRangeAsync AddScoped AddSeconds AddSingleton AddTicks AddTransient AddYears AnyAsync AppendFormat AppendJoin
    AppendLine AsEnumerable AsMemory AsParallel AsQueryable BeginInvoke BeginRead BeginScope BeginTransaction
    BeginWrite BinarySearch BuildServiceProvider CancelAfter CancelAsync CloseAsync CompareTo CompleteAdding
    ConfigureAwait ContainsKey ContainsValue ContinueWith ConvertAll CopyToAsync CountAsync CreateCommand
    CreateInstance CreateScope DefaultIfEmpty DeleteAsync DisposeAsync DistinctBy DynamicInvoke ElementAt
    ElementAtOrDefault EndInvoke EndWrite EndsWith EnsureCapacity EnsureSuccessStatusCode ExceptBy ExceptWith
    ExecuteAsync ExecuteNonQuery ExecuteNonQueryAsync ExecuteReader ExecuteReaderAsync ExecuteScalar FindAsync
    FindIndex FindLast FindLastIndex FirstAsync FirstOrDefault FirstOrDefaultAsync FlushAsync GetAsync
    GetAsyncEnumerator GetAwaiter GetBaseException GetByteArrayAsync GetByteCount GetBytes GetCharCount GetConstructor
    GetConstructors GetConsumingEnumerable GetCustomAttribute GetCustomAttributes GetDecoder GetEncoder GetEnumerator
    GetFields GetGenericArguments GetGenericTypeDefinition GetHashCode GetInterfaces GetInvocationList GetMethod
    GetMethods GetObjectData GetOrAdd GetProperties GetProperty GetRange GetRequiredService GetResult GetService
    GetServices GetStreamAsync GetString GetStringAsync GetValue GetValueOrDefault GetViewBetween GroupJoin IndexOfAny
    InsertRange IntersectBy IntersectWith IsAssignableFrom IsAssignableTo IsDefined IsEnabled IsInstanceOfType
    IsProperSubsetOf IsProperSupersetOf IsSubclassOf IsSubsetOf IsSupersetOf LastIndexOf LastIndexOfAny LastOrDefault
    LogCritical LogDebug LogError LogInformation LogTrace LogWarning MakeGenericMethod MakeGenericType MemberwiseClone
    MoveNext MoveNextAsync OnCompleted OpenAsync OrderByDescending PadRight PatchAsync PostAsync PutAsync ReadAllAsync
    ReadAsByteArrayAsync ReadAsStreamAsync ReadAsStringAsync ReadAsync ReadBlock ReadBoolean ReadByte ReadBytes
    ReadChar ReadChars ReadDecimal ReadDouble ReadExactly ReadExactlyAsync ReadInt16 ReadInt32 ReadInt64 ReadLine
    ReadLineAsync ReadSingle ReadString ReadToEnd ReadToEndAsync RemoveAll RemoveAt RemoveFirst RemoveLast RemoveRange
    RemoveWhere RunSynchronously SaveChanges SaveChangesAsync SelectMany SendAsync SequenceEqual SetCanceled SetEquals
    SetException SetLength SetResult SetValue SingleAsync SingleOrDefault SingleOrDefaultAsync SkipLast SkipWhile
    StartAsync StartsWith StopAsync SymmetricExceptWith TakeLast TakeWhile ThenByDescending
    ThrowIfCancellationRequested ToArrayAsync ToCharArray ToDictionary ToHashSet ToImmutableArray
    ToImmutableDictionary ToImmutableList ToListAsync ToLocalTime ToLookup ToLowerInvariant ToShortDateString ToString
    ToUniversalTime ToUnixTimeMilliseconds ToUnixTimeSeconds ToUpperInvariant TrimExcess TrimStart TrueForAll
    TryCopyTo TryDequeue TryEnter TryGetValue TryRemove TrySetCanceled TrySetException TrySetResult TryUpdate TryWrite
    UnionWith UnsafeOnCompleted WaitAsync WaitForExit WaitForExitAsync WaitToReadAsync WaitToWriteAsync WriteAsync
    WriteByte WriteLine WriteLineAsync
""")

# The objects of ECMAScript (https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects), of the web
# (https://developer.mozilla.org/docs/Web/API) and of Node's events, streams, files and HTTP (https://nodejs.org/api).
ECMASCRIPT = _names("""
    addEventListener addListener adoptNode allSettled appendChild appendData appendFile appendHeader arrayBuffer
    attachShadow beginPath bezierCurveTo charCodeAt checkValidity clearRect clearTimeout cloneNode closeAllConnections
    closeIdleConnections closePath codePointAt compareDocumentPosition composedPath copyWithin createComment
    createConnection createDocumentFragment createElement createElementNS createEvent createImageData createIndex
    createLinearGradient createObjectStore createObjectURL createPattern createRadialGradient createRange
    createReadStream createTextNode createWriteStream deleteData deriveBits deriveKey dispatchEvent drawImage
    encodeInto endsWith eventNames execCommand exitFullscreen exportKey fillRect fillText findIndex findLast
    findLastIndex flushHeaders formData generateKey getAllResponseHeaders getAttribute getAttributeNS getBigInt64
    getBigUint64 getBoundingClientRect getClientRects getConnections getContext getElementById getElementsByClassName
    getElementsByTagName getFloat32 getFloat64 getFullYear getHeader getHeaderNames getHeaders getHeapSnapshot
    getHours getImageData getInt16 getInt32 getMaxListeners getMilliseconds getMinutes getMonth getOrInsert
    getPropertyValue getRandomValues getRangeAt getRawHeaderNames getReader getResponseHeader getSeconds getSelection
    getSetCookie getTimezoneOffset getTransform getUTCDate getUTCDay getUTCFullYear getUTCHours getUTCMilliseconds
    getUTCMinutes getUTCMonth getUTCSeconds getUint16 getUint32 getUint8 getWriter hasAttribute hasChildNodes
    hasHeader hasOwnProperty hasPointerCapture importKey importNode insertAdjacentElement insertAdjacentHTML
    insertAdjacentText insertBefore isBlockDevice isCharacterDevice isDirectory isDisjointFrom isEqualNode isPaused
    isPrototypeOf isSameNode isSubsetOf isSupersetOf isSymbolicLink isWellFormed lastIndexOf listenerCount
    localeCompare matchAll measureText objectStore openCursor padStart pipeThrough postMessage prependListener
    prependOnceListener preventDefault propertyIsEnumerable pushState putImageData quadraticCurveTo querySelector
    querySelectorAll randomUUID rawListeners readFile readInt8 readUInt8 readUint8 readdirSync reduceRight releaseLock
    releasePointerCapture removeAllListeners removeAllRanges removeAttribute removeChild removeEventListener
    removeHeader removeItem removeListener removeProperty replaceAll replaceChild replaceChildren replaceState
    replaceWith reportValidity requestFullscreen requestSubmit resetTransform scrollIntoView scrollTo selectNode
    selectNodeContents setAttribute setAttributeNS setBigInt64 setBigUint64 setCustomValidity setDefaultEncoding
    setEncoding setFloat32 setFloat64 setFullYear setHeader setHeaders setHours setInt16 setInt32 setKeepAlive
    setLineDash setMaxListeners setMilliseconds setMinutes setMonth setNoDelay setPointerCapture setProperty
    setRangeText setRequestHeader setSeconds setSelectionRange setSocketKeepAlive setTimeout setTransform setUTCDate
    setUTCFullYear setUTCHours setUTCMilliseconds setUTCMinutes setUTCMonth setUTCSeconds setUint16 setUint32 setUint8
    showModal startsWith stopImmediatePropagation stopPropagation strokeRect strokeText symmetricDifference
    takeRecords throwIfAborted toDataURL toDateString toExponential toGMTString toISOString toLocaleDateString
    toLocaleLowerCase toLocaleString toLocaleTimeString toLocaleUpperCase toLowerCase toPrecision toReversed toSorted
    toSpliced toString toTimeString toUTCString toUpperCase toWellFormed toggleAttribute trimLeft trimRight trimStart
    withResolvers writeContinue writeFile writeHead writeHeader writeInt8 writeUInt8 writeUint8
""")

# Elixir's standard library (https://hexdocs.pm/elixir): Enum, Map, Keyword, List, String, Stream, Task, GenServer,
# Supervisor, Process, Application, DateTime, File, Regex, Macro and Module.
ELIXIR = _names("""
    async_nolink async_stream async_stream_nolink await_many beginning_of_month beginning_of_week cancel_timer
    child_spec chunk_by chunk_every chunk_while code_change compile_env compile_string count_children day_of_week
    day_of_year dedup_by defines_type? delete_at delete_attribute delete_child delete_env delete_first drop_every
    drop_while end_of_month end_of_week ends_with? ensure_all_started eval_quoted eval_string expand_once fetch_env
    fetch_env! find_index find_value flat_map flat_map_reduce format_status frequencies_by from_erl from_iso8601
    from_iso8601! from_keys from_naive from_struct from_unix from_unix! get_all_env get_and_update get_and_update!
    get_and_update_in get_attribute get_definition get_lazy get_values group_by handle_call handle_cast
    handle_continue handle_info has_key? insert_at map_every map_intersperse map_join map_reduce min_max_by
    monotonic_time named_captures next_codepoint next_grapheme pad_leading pad_trailing pop_lazy put_attribute
    put_new! put_new_lazy quoted_to_algebra reduce_while register_attribute register_name replace_at replace_lazy
    replace_leading replace_prefix replace_suffix replace_trailing restart_child safe_concat send_after shift_zone
    shift_zone! split_at split_while split_with start_child start_link start_monitor starts_with? string_to_quoted
    system_time take_every take_random take_while terminate_child to_charlist to_existing_atom to_float
    to_gregorian_seconds to_integer to_iso8601 to_string to_tuple trim_leading trim_trailing unique_integer
    unregister_name update_at update_in utc_today whereis_name which_children with_index write_stat yield_many
    zip_reduce zip_with
""")

# Go's standard library (https://pkg.go.dev/std): io, bufio, bytes, net, net/http, encoding, database/sql, sync, time,
# regexp, reflect, container/list, flag, os/exec, log, testing and text/template.
GO = _names("""
    AcceptTCP AddCookie AppendBinary AppendEncode AppendFormat AppendText AssignableTo BasicAuth BlockSize
    CanInterface CloseIdleConnections CloseRead CloseWithError CloseWrite ColumnTypes CombinedOutput CompareAndDelete
    CompareAndSwap ConvertibleTo DebugContext DecodeElement DecodeString DecodedLen DefinedTemplates DialContext
    DisallowUnknownFields DurationVar EnableFullDuplex EncodeElement EncodeToString EncodeToken EncodedLen
    ErrorContext EscapedPath ExecContext ExecuteTemplate FieldByIndex FieldByName FieldByNameFunc FindAllIndex
    FindAllString FindAllStringSubmatch FindAllSubmatch FindIndex FindString FindStringIndex FindStringSubmatch
    FindSubmatch Float64Var FlushError FormFile FormValue GoString GobDecode GobEncode HandleFunc InfoContext
    InputOffset InsertAfter InsertBefore Int64Var IsLoopback IsPrivate JoinPath LastInsertId ListenAndServe
    ListenAndServeTLS LoadAndDelete LoadOrStore LocalAddr LogAttrs MapIndex MapRange MarshalBinary MarshalJSON
    MarshalText MarshalXML MarshalYAML MatchReader MatchString MethodByName MoveAfter MoveBefore MoveToBack
    MoveToFront NextResultSet NonceSize NumField NumMethod NumSubexp OverflowInt ParseFiles ParseForm ParseGlob
    ParseMultipartForm PathValue PingContext PostFormValue PrepareContext PrintDefaults PushBack PushBackList
    PushFront PushFrontList QueryContext QueryRow QueryRowContext ReadByte ReadBytes ReadFile ReadFrom ReadFromUDP
    ReadLine ReadRune ReadSlice ReadString RegisterOnShutdown RemoteAddr ReplaceAll ReplaceAllFunc
    ReplaceAllLiteralString ReplaceAllString ReplaceAllStringFunc ReportAllocs ReportMetric RequestURI ResetTimer
    ResolveReference RoundTrip RowsAffected RunParallel ServeHTTP SetBasicAuth SetBytes SetConnMaxIdleTime
    SetConnMaxLifetime SetDeadline SetEscapeHTML SetFlags SetFloat SetFloat64 SetIndent SetInt64 SetKeepAlive
    SetKeepAlivePeriod SetLinger SetMapIndex SetMaxIdleConns SetMaxOpenConns SetNoDelay SetOutput SetPrefix
    SetReadBuffer SetReadDeadline SetReadLimit SetString SetUint64 SetWriteBuffer SetWriteDeadline StartTimer
    StderrPipe StdinPipe StdoutPipe StopTimer StringVar SubexpIndex SubexpNames SyscallConn UnixMicro UnixMilli
    UnixNano UnmarshalBinary UnmarshalJSON UnmarshalText UnmarshalXML UnmarshalYAML UnreadByte UnreadRune UseNumber
    UserAgent VisitAll WarnContext WithAttrs WithContext WithGroup WriteByte WriteHeader WriteRune WriteString
    WriteToUDP
""")

# Haskell's base, containers, text, bytestring, transformers and stm (https://hackage.haskell.org/packages).
HASKELL = _names("""
    adjustWithKey appendFile atomicModifyIORef atomicModifyIORef' atomicWriteIORef bimapDefault breakOnAll breakOnEnd
    breakSubstring catchError catchSTM clearBit complementBit concatMap decodeFloat decodeLatin1 decodeUtf8
    decodeUtf8' decodeUtf8With deleteBy deleteFindMax deleteFindMin deleteFirstsBy deleteMax deleteMin differenceWith
    displayException dropAround dropWhile dropWhileEnd dropWhileL dropWhileR elemIndex elemIndices encodeFloat
    encodeUtf8 enumFrom enumFromThen enumFromThenTo enumFromTo evalState evalStateT execState execStateT execWriter
    execWriterT filterWithKey findIndex findIndices findWithDefault floatDigits fmapDefault foldMap' foldMapDefault
    foldMapWithKey foldlWithKey foldrWithKey fromAscList fromAscListWith fromChunks fromDistinctAscList fromEnum
    fromException fromInteger fromIntegral fromList fromListWith fromListWithKey fromRational fromStrict genericDrop
    genericLength genericReplicate genericTake getContents hGetContents hGetLine hPutStrLn hSetBuffering hSetEncoding
    insertBy insertLookupWithKey insertWith insertWithKey intersectBy intersectionWith intersectionWithKey isInfinite
    isInfixOf isPrefixOf isProperSubsetOf isSubmapOf isSubmapOfBy isSubsequenceOf isSubsetOf isSuffixOf lookupGE
    lookupGT lookupIndex lookupLE lookupLT lookupMax lookupMin mapAccumL mapAccumR mapAccumWithKey mapAndUnzipM
    mapEither mapEitherWithKey mapKeysWith mapMaybe mapMaybeWithKey mapStateT mapWithKey maxBound maxViewWithKey
    maximumBy minBound minViewWithKey minimumBy modifyIORef modifyIORef' modifyMVar modifyMVar_ modifyTVar modifyTVar'
    newEmptyMVar newIORef newTChan newTMVar newTQueue newTVarIO partitionWithKey peekByteOff peekElemOff pokeByteOff
    pokeElemOff popCount putStrLn putTMVar readFile readIORef readList readMVar readTChan readTMVar readTQueue
    readTVar readTVarIO readsPrec realToFrac replicateM replicateM_ restrictKeys runExcept runExceptT runMaybeT
    runReader runReaderT runState runStateT runWriter runWriterT sequenceA sequenceA_ showList showsPrec splitLookup
    splitRoot splitWith stateTVar stripEnd stripPrefix stripStart stripSuffix swapMVar takeMVar takeTMVar takeWhile
    takeWhileEnd takeWhileL takeWhileR throwError throwSTM toAscList toChunks toDescList toException toInteger
    toLazyByteString toRational toStrict traverseWithKey tryPutMVar tryTakeMVar unionWith unionWithKey unionsWith
    updateLookupWithKey updateWithKey withExceptT withMVar withReaderT withoutKeys writeFile writeIORef writeTChan
    writeTQueue writeTVar zipWithM zipWithM_
""")

# Java's java.lang, java.util and java.io (https://docs.oracle.com/en/java/javase/17/docs/api/java.base), Kotlin's
# standard library (https://kotlinlang.org/api/core/kotlin-stdlib) and Scala's (https://www.scala-lang.org/api/current).
JVM = _names("""
    acceptEither addAllAbsent addFirst addIfAbsent addString addSuppressed allMatch anyMatch appendAll appendCodePoint
    appendText appendedAll applyAsDouble applyAsInt applyAsLong applyOrElse applyToEither asDoubleStream asInstanceOf
    asIterable asIterator asLongStream asSequence associateBy associateWith awaitTermination booleanValue
    bufferedReader bufferedWriter byteValue canEqual canExecute canWrite ceilingEntry ceilingKey checkError
    codePointAt codePointBefore codePointCount codePoints coerceAtLeast coerceAtMost coerceIn collectFirst compareTo
    compareToIgnoreCase completeExceptionally completeOnTimeout computeIfAbsent computeIfPresent containsAll
    containsKey containsMatchIn containsValue contentEquals copyRecursively copyToArray copyToBuffer createNewFile
    decodeToString defaultExecutor deleteCharAt deleteOnExit deleteRecursively descendingIterator descendingKeySet
    descendingMap descendingSet describeConstable distinctBy doubleValue dropLast dropLastWhile dropRight dropWhile
    elementAtOrElse elementAtOrNull encodeToByteArray endsWith ensureCapacity entrySet equalsIgnoreCase estimateSize
    exceptionOrNull exceptionallyCompose fillInStackTrace filterIndexed filterIsInstance filterKeys filterNot
    filterNotNull filterTo filterValues findAnyOf findFirst findInLine findWithinHorizon firstEntry firstKey
    firstOrNull flatMapIndexed floatValue floorEntry floorKey foldIndexed foldLeft foldRight forEachIndexed
    forEachLine forEachOrdered forEachRemaining forRemoval foreachEntry getActions getAverage getBuffer getBytes
    getCause getChannel getChars getClass getClassLoaderName getClassName getComparator getCount getDeclaringClass
    getDelay getEncoding getExactSizeIfKnown getFileName getFirst getFreeSpace getLineNumber getListener
    getLocalizedMessage getMessage getMethodName getModuleName getModuleVersion getNumberOfDependents getOrDefault
    getOrElse getOrElseUpdate getOrNull getOrPut getOrThrow getParent getParentFile getProperty getRawResult
    getSimpleName getSource getStackTrace getSuppressed getTotalSpace getUsableSpace getValue getWaitingConsumerCount
    groupMap groupMapReduce groupingBy hasCharacteristics hasMoreElements hasNextBigDecimal hasNextBigInteger
    hasNextBoolean hasNextByte hasNextDouble hasNextFloat hasNextInt hasNextLine hasNextLong hasNextShort hasPrevious
    hasWaitingConsumer hashCode headOption higherEntry higherKey ifPresent ifPresentOrElse indexOfAny indexOfFirst
    indexOfLast indexWhere initCause inputStream insertAll intValue invariantSeparatorsPath invokeAll invokeAny
    ioException isAbsolute isCancelled isCompletedExceptionally isDefined isDefinedAt isDirectory isHidden isInfinite
    isInstanceOf isNativeMethod isNotBlank isNotEmpty isNullOrBlank isNullOrEmpty isParallel isPeriodic isPresent
    isShutdown isTerminated joinToString keysIterator knownSize lastEntry lastIndexOf lastIndexOfAny lastIndexWhere
    lastModified lastOption lastOrNull lengthCompare lengthIs lineSequence linesIterator listFiles listIterator
    loadFromXML longValue lowerEntry lowerKey mapCatching mapIndexed mapIndexedNotNull mapKeysTo mapNotNull
    mapNotNullTo mapToDouble mapToInt mapToLong mapToObj mapValues mappingCount matchEntire maxByOption maxOption
    minByOption minOption minimalCompletionStage minusAssign mkString navigableKeySet newIncompleteFuture
    newPermissionCollection nextBigDecimal nextBigInteger nextBoolean nextByte nextDouble nextElement nextFloat
    nextIndex nextLine nextLong nextOption nextShort nonEmpty noneMatch notifyAll offerFirst offerLast
    offsetByCodePoints onComplete onEachIndexed onFailure onSuccess orElseGet orElseThrow orTimeout outputStream
    padStart parallelStream partitionMap peekFirst peekLast plusAssign pollFirst pollFirstEntry pollLast pollLastEntry
    prefixLength prependAll prependedAll previousIndex printStackTrace productArity productElement productIterator
    productPrefix propertyNames putFirst putIfAbsent readAllBytes readBytes readExternal readLine readLines readNBytes
    readText recoverCatching recoverWith reduceIndexed reduceLeft reduceLeftOption reduceOption reduceOrNull
    reduceRight reduceToDouble reduceToInt reduceToLong regionMatches rejectedExecution relativeTo remainingCapacity
    removeAll removeFirst removeIf removeLast removePrefix removeRange removeSuffix removedAll renameTo replaceAll
    replaceFirst replaceFirstChar replaceRange resolveConstantDesc resolveSibling retainAll runAfterBoth
    runAfterEither sameElements scanLeft scanRight scheduleAtFixedRate scheduleWithFixedDelay segmentLength setCharAt
    setEmptyValue setExecutable setLastModified setLength setProperty setReadOnly setReadable setStackTrace setValue
    setWritable shortValue shutdownNow singleOrNull sizeCompare sizeHint skipNBytes sortByDescending sortWith sortedBy
    sortedByDescending sortedDescending sortedWith startsWith storeToXML stringPropertyNames stripIndent stripLeading
    stripLineEnd stripMargin stripPrefix stripSuffix stripTrailing subSequence substringAfter substringAfterLast
    substringBefore substringBeforeLast summaryStatistics takeFirst takeLast takeLastWhile takeRight takeUnless
    takeWhile thenAccept thenAcceptBoth thenApply thenCombine thenComparing thenComparingDouble thenComparingInt
    thenComparingLong thenCompose timedJoin timedWait timesAssign toBigDecimal toBigInteger toBooleanOption toBuffer
    toByteArray toCharArray toChronoUnit toCompletableFuture toDoubleOption toDoubleOrNull toFloatOrNull toHashSet
    toIndexedSeq toIntArray toIntOption toIntOrNull toIterable toIterator toLazyList toLongArray toLongOption
    toLongOrNull toLowerCase toMicros toMillis toMinutes toMutableList toMutableMap toMutableSet toOption toSeconds
    toSortedMap toSortedSet toStream toString toTypedArray toUpperCase toVector transferTo transformWith
    translateEscapes trimIndent trimMargin trimStart trimToSize tryAdvance trySplit tryTransfer unapplySeq updateWith
    updatedWith useDelimiter useLines useLocale useRadix valuesIterator whenComplete withDefault withDefaultValue
    withFilter withIndex writeBytes writeExternal writeObject writeText zipWithIndex zipWithNext
""")

# Lua's own library (https://www.lua.org/manual/5.4) has no method of two words; Neovim's handles and syntax trees have
# (https://neovim.io/doc/user/luvref.html, https://neovim.io/doc/user/treesitter.html).
LUA = _names("""
    byte_length child_count child_with_descendant descendant_for_range disable_capture disable_pattern for_each_child
    for_each_tree get_due_in get_repeat get_winsize has_changes has_error included_ranges included_regions is_active
    is_closing is_readable is_writable iter_captures iter_children iter_matches language_for_range named_child
    named_child_count named_children named_descendant_for_range named_node_for_range next_named_sibling next_sibling
    node_for_range prev_named_sibling prev_sibling read_start read_stop recv_buffer_size recv_start recv_stop
    register_cbs send_buffer_size set_blocking set_broadcast set_repeat tree_for_range try_send try_write
    write_queue_size
""")

# PHP's classes and interfaces (https://www.php.net/manual/en/book.spl.php and the chapters on exceptions, dates, PDO,
# reflection, DOM and SimpleXML).
PHP = _names("""
    addAttribute addChild allowsNull appendChild beginChildren beginIteration beginTransaction begin_transaction
    bindColumn bindParam bindValue bind_param bind_result callGetChildren callHasChildren cloneNode closeCursor
    columnCount createAttribute createCDATASection createDocumentFragment createElement createElementNS
    createFromFormat createTextNode endChildren endIteration errorCode errorInfo exchangeArray fetchAll fetchColumn
    fetchObject fetch_all fetch_array fetch_assoc fetch_object fetch_row free_result fromCallable getATime
    getArrayCopy getAttribute getAttributeNS getAttributes getBasename getCTime getChildren getClosure getColumnMeta
    getConstant getConstants getConstructor getCsvControl getCurrentLine getDeclaringClass getDefaultValue getDepth
    getDocComment getDocNamespaces getElementById getElementsByTagName getElementsByTagNameNS getEndLine getExtension
    getFileInfo getFilename getFlags getGroup getInnerIterator getInode getInterfaceNames getInterfaces getIterator
    getIteratorIndex getIteratorMode getLinkTarget getMTime getMaxDepth getMessage getMethod getMethods
    getNamespaceName getNamespaces getNodePath getNumberOfParameters getNumberOfRequiredParameters getOffset getOwner
    getParameters getParentClass getPathInfo getPathname getPerms getPrevious getProperties getProperty getRealPath
    getReturn getReturnType getShortName getStartLine getStaticVariables getSubIterator getTimestamp getTimezone
    getTrace getTraceAsString getTraits getTransitions get_result hasAttribute hasAttributes hasChildNodes hasChildren
    hasConstant hasMethod hasProperty implementsInterface importNode inTransaction insertBefore invokeArgs isAbstract
    isBuiltin isCorrupted isDefaultValueAvailable isExecutable isInstance isInstantiable isInterface isOptional
    isPassedByReference isReadable isRunning isStarted isSubclassOf isSuspended isTerminated isUserDefined isVariadic
    isWritable jsonSerialize lastInsertId loadHTML more_results multi_query newInstance newInstanceArgs
    newInstanceWithoutConstructor nextElement nextRowset next_result offsetExists offsetGet offsetSet offsetUnset
    openFile real_escape_string recoverFromCorruption registerNamespace registerXPathNamespace removeAll
    removeAllExcept removeAttribute removeChild replaceChild rollBack rowCount saveHTML select_db setAccessible
    setAttribute setAttributeNS setCsvControl setExtractFlags setFetchMode setFileClass setFlags setISODate
    setIteratorMode setMaxDepth setTimestamp setTimezone set_charset store_result
""")

# Ruby's core classes (https://docs.ruby-lang.org/en/master): Enumerable, Array, Hash, String, Object, Module, IO,
# Exception and Thread.
RUBY = _names("""
    abort_on_exception absolute_path absolute_path? alias_method ascii_only? backtrace_locations bit_length
    chunk_while class_eval class_exec class_variable_get class_variable_set class_variables close_on_exec close_read
    close_write collect_concat compare_by_identity const_defined? const_get const_missing const_set
    const_source_location default_proc define_singleton_method delete_at delete_if delete_prefix delete_prefix!
    delete_suffix delete_suffix! detailed_message drop_while each_byte each_char each_child each_codepoint each_cons
    each_entry each_filename each_grapheme_cluster each_index each_key each_line each_pair each_slice each_value
    each_with_index each_with_object end_with? enum_for external_encoding fetch_values filter_map find_all find_index
    flat_map force_encoding full_message group_by has_key? has_value? included_modules instance_eval instance_exec
    instance_method instance_methods instance_of? instance_variable_defined? instance_variable_get
    instance_variable_set instance_variables internal_encoding last_match method_added method_defined? method_missing
    method_removed minmax_by module_eval module_exec named_captures next_float next_values num_waiting peek_values
    post_match pre_match prev_float private_class_method private_method_defined? private_methods public_class_method
    public_instance_methods public_method public_method_defined? public_methods public_send read_nonblock
    relative_path_from remove_const remove_instance_variable remove_method report_on_exception respond_to?
    respond_to_missing? reverse_each set_backtrace set_encoding singleton_class singleton_method singleton_methods
    slice_after slice_before slice_when sort_by! source_location start_with? super_method take_while
    thread_variable_get thread_variable_set transform_keys transform_keys! transform_values transform_values! try_lock
    undef_method unicode_normalize unicode_normalized? valid_encoding? values_at with_index with_object write_nonblock
""")

# Rust's standard library (https://doc.rust-lang.org/std): option, result, iter, slice, vec, string, collections, io,
# path, sync, cell, time and the integer types.
RUST = _names("""
    abs_diff and_modify and_then as_bytes as_bytes_mut as_deref as_deref_mut as_micros as_millis as_mut_ptr
    as_mut_slice as_nanos as_os_str as_pin_mut as_secs_f32 as_secs_f64 as_slice binary_search binary_search_by
    binary_search_by_key borrow_mut build_hasher char_indices checked_add checked_div checked_mul checked_neg
    checked_pow checked_rem checked_shl checked_shr checked_sub chunk_by chunks_exact chunks_mut clone_from
    clone_from_slice compare_exchange compare_exchange_weak contains_key copy_from_slice copy_within count_ones
    count_zeros current_dir debug_list debug_map debug_set debug_struct debug_tuple dedup_by dedup_by_key div_ceil
    div_euclid downcast_mut downcast_ref duration_since ends_with env_clear env_remove eq_ignore_ascii_case expect_err
    extend_from_slice extend_from_within fetch_add fetch_and fetch_max fetch_min fetch_or fetch_sub fetch_update
    fetch_xor file_name file_stem file_type fill_buf fill_with filter_map find_map finish_non_exhaustive first_entry
    first_key_value flat_map for_each from_be_bytes from_bits from_iter from_le_bytes from_ne_bytes from_str
    get_key_value get_many_mut get_or_init get_or_insert get_or_insert_with get_unchecked get_unchecked_mut hash_one
    hash_slice insert_entry insert_str into_boxed_slice into_boxed_str into_bytes into_future into_inner into_iter
    into_keys into_os_string into_owned into_path_buf into_raw into_string into_values into_vec is_absolute
    is_alphabetic is_alphanumeric is_ascii is_ascii_alphabetic is_ascii_alphanumeric is_ascii_digit
    is_ascii_punctuation is_ascii_whitespace is_break is_char_boundary is_continue is_control is_disjoint is_empty
    is_err_and is_finished is_finite is_infinite is_lowercase is_negative is_none_or is_numeric is_ok_and
    is_partitioned is_poisoned is_positive is_power_of_two is_relative is_some_and is_sorted is_sorted_by is_subset
    is_superset is_symlink is_uppercase is_whitespace iter_mut last_entry last_key_value leading_ones leading_zeros
    local_addr make_ascii_lowercase make_ascii_uppercase make_mut map_break map_or_else map_while match_indices
    max_by_key min_by_key next_back next_if_eq next_power_of_two notify_all notify_one nth_back ok_or_else or_default
    or_insert or_insert_with or_insert_with_key overflowing_add overflowing_mul overflowing_sub partial_cmp
    partition_point peek_mut peer_addr poll_next pop_back pop_first pop_front pop_last push_back push_front push_str
    range_mut read_dir read_exact read_link read_to_end read_to_string read_until read_vectored recv_timeout
    rem_euclid remove_entry replace_with reserve_exact resize_with retain_mut reverse_bits rotate_left rotate_right
    rsplit_once saturating_add saturating_mul saturating_sub seek_relative select_nth_unstable set_extension
    set_file_name set_nodelay set_nonblocking set_permissions set_read_timeout set_write_timeout shrink_to
    shrink_to_fit size_hint skip_while sort_by_cached_key sort_by_key sort_unstable sort_unstable_by
    sort_unstable_by_key split_ascii_whitespace split_at split_at_checked split_at_mut split_first split_first_mut
    split_inclusive split_last split_last_mut split_off split_once split_terminator split_whitespace starts_with
    stream_position strip_prefix strip_suffix strong_count subsec_micros subsec_millis subsec_nanos swap_bytes
    swap_remove symmetric_difference sync_all sync_data take_while to_ascii_lowercase to_ascii_uppercase to_be_bytes
    to_degrees to_digit to_le_bytes to_lowercase to_ne_bytes to_owned to_path_buf to_radians to_string to_string_lossy
    to_uppercase total_cmp trailing_ones trailing_zeros trim_ascii trim_end trim_end_matches trim_matches trim_start
    trim_start_matches try_borrow try_borrow_mut try_clone try_fold try_for_each try_from try_into try_iter try_lock
    try_read try_recv try_reserve try_send try_unwrap try_write unwrap_err unwrap_or unwrap_or_default unwrap_or_else
    unwrap_unchecked wait_timeout wait_timeout_while wait_while wait_with_output wake_by_ref weak_count with_capacity
    with_extension with_file_name wrapping_add wrapping_mul wrapping_neg wrapping_sub write_all write_char write_fmt
    write_str write_u16 write_u32 write_u64 write_u8 write_usize write_vectored
""")

# Swift's standard library (https://developer.apple.com/documentation/swift) and Foundation's strings, URLs, coders and
# sessions (https://developer.apple.com/documentation/foundation).
SWIFT = _names("""
    addAttribute addAttributes addDependency addObserver addOperation addOperations addTaskUnlessCancelled addValue
    addingPercentEncoding addingReportingOverflow addingTimeInterval allSatisfy appendInterpolation appendLiteral
    appendPathComponent appendingPathComponent appendingPathExtension assumeIsolated asyncAfter attributesOfItem
    bindMemory cancelAll checkCancellation closeFile compactMap compactMapValues contentsOfDirectory copyBytes
    copyItem copyMemory createDirectory createFile dataTask dateComponents decodeIfPresent decodeNil
    deletingLastPathComponent deletingPathExtension dictionaryRepresentation downloadTask dropFirst dropLast
    elementsEqual encodeIfPresent encodeNil enumerateAttributes enumerateLines fileExists finishTasksAndInvalidate
    firstIndex flatMapError formIndex formIntersection formSymmetricDifference formUnion getBytes hasPrefix hasSuffix
    initializeMemory invalidateAndCancel isDisjoint isMultiple isStrictSubset isStrictSuperset isSubset isSuperset
    lastIndex lexicographicallyPrecedes lineRange loadUnaligned makeAsyncIterator makeIterator mapError mapValues
    moveInitialize moveItem multipliedReportingOverflow nestedContainer nestedUnkeyedContainer nextDate popFirst
    quotientAndRemainder randomElement readData readDataToEndOfFile removeAll removeFirst removeItem removeLast
    removeObject removeObserver removeSubrange removeValue replaceSubrange replacingCharacters replacingOccurrences
    reserveCapacity resourceValues setObject setResourceValue setValue singleValueContainer startOfDay storeBytes
    subtractingReportingOverflow superDecoder superEncoder symmetricDifference synchronizeFile timeIntervalSince
    trimmingCharacters unkeyedContainer updateValue uploadTask waitForAll waitUntilFinished webSocketTask withCString
    withContiguousStorageIfAvailable withUTF8 withUnsafeBufferPointer withUnsafeBytes withUnsafeMutableBufferPointer
    withUnsafeMutableBytes withUnsafePointer
""")

# Zig's standard library (https://ziglang.org/documentation/master/std): lists, hash maps, readers and writers,
# allocators, files, threads, bit sets, JSON and the build system.
ZIG = _names("""
    addCSourceFile addCSourceFiles addExecutable addFileArg addImport addIncludePath addInstallArtifact
    addInstallDirectory addInstallFile addLibrary addLibraryPath addManyAsArray addManyAsSlice addManyAt addModule
    addObject addOneAssumeCapacity addOption addOptions addRunArtifact addSharedLibrary addStaticLibrary
    addSystemCommand addWriteFiles alignedAlloc allocAdvanced allocSentinel allocWithOptions allocatedSlice
    appendAssumeCapacity appendSlice appendSliceAssumeCapacity appendUnalignedSlice beginArray beginObject
    clearAndFree clearRetainingCapacity cmpxchgStrong cmpxchgWeak containsContext copyFile createFile createModule
    deleteDir deleteFile deleteTree dependOn endArray endObject ensureTotalCapacity ensureTotalCapacityPrecise
    ensureUnusedCapacity expandToCapacity extraData fetchAdd fetchAnd fetchMax fetchMin fetchOrderedRemove fetchPut
    fetchRemove fetchSub fetchSwapRemove findFirstSet findLastSet firstToken fromOwnedSlice getEndPos getEntry
    getEnvMap getIndex getInstallStep getLastOrNull getNodeSource getOrPut getOrPutAssumeCapacity getOrPutContext
    getOrPutValue getPtrContext insertAssumeCapacity insertSlice installArtifact installFile jsonParse
    jsonParseFromValue jsonStringify keyIterator lastToken lazyDependency linkLibC linkLibrary linkSystemLibrary
    lockShared makeOpenPath makePath moveToUnmanaged nextAlloc nextAllocMax nodeMainToken objectField openFile
    openFileAbsolute openIterableDir orderedRemove peekNextTokenType popOrNull prependAll putAssumeCapacity
    putAssumeCapacityNoClobber putNoClobber rawAlloc rawRemap rawResize readAllAlloc readAllArrayList readAtLeast
    readByte readBytesNoEof readEnum readFile readFileAlloc readFileAllocOptions readIntNative readNoEof readStruct
    readToEndAlloc readToEndAllocOptions readUntilDelimiter readUntilDelimiterAlloc readVarInt reallocAdvanced
    realpathAlloc removeByPtr renderToArrayList replaceRange resetRetainingCapacity resolveTargetQuery setEndPos
    setIntersection setRangeValue setUnion setValue shrinkAndFree shrinkRetainingCapacity skipBytes
    skipUntilStackHeight skipValue spawnAndWait spawnManager standardOptimizeOption standardTargetOptions statFile
    streamUntilDelimiter swapRemove takeByte takeDelimiter threadSafeAllocator timedWait toManaged toOwnedSlice
    toOwnedSliceSentinel toggleAll toggleFirstSet toggleSet tokenLocation tokenSlice tokensOnSameLine tryLockShared
    unlockShared unsetAll unusedCapacitySlice updateFile valueIterator writeAll writeByte writeFile writeInt
    writePreformatted writeSplatAll writeStreamingAll writeStruct
""")
